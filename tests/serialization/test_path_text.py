"""Long lines are cut, and a marker gives the number of omitted characters."""

from __future__ import annotations

import pytest

from rootle.serialization.path_text import cut_line, cut_lines


@pytest.mark.parametrize("more", range(1, 40))
def test_a_marker_is_never_longer_than_the_text_that_it_replaces(more: int) -> None:
    line = "x" * (160 + more)
    shown = cut_line(line, 160)
    assert len(shown) <= len(line)
    assert shown == (line if more <= 22 else f"{'x' * 160}… ({more} more characters)")


def test_a_cut_at_the_start_and_at_the_end_is_marked() -> None:
    line = f"{'a' * 300}match{'b' * 300}"
    shown = cut_line(line, 100, start=250)
    assert shown == f"(250 characters) …{'a' * 50}match{'b' * 45}… (255 more characters)"


def test_a_short_start_is_shown() -> None:
    line = f"{'a' * 15}match{'b' * 300}"
    assert cut_line(line, 20, start=15).startswith("aaaaaaaaaaaaaaamatchbbb")


def test_a_single_line_is_shown_instead_of_a_marker() -> None:
    assert cut_lines(["a", "b", "c"], 2) == ["a", "b", "c"]
    assert cut_lines(["a", "b", "c", "d"], 2) == ["a", "b"]
