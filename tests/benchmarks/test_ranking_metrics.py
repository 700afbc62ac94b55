"""NDCG@10, ranks of targets and shown lines, on examples computed by hand."""

from __future__ import annotations

import math

import pytest
from benchmarks.common.metrics import Hit, match_targets, ndcg


def test_one_target_in_second_place_scores_the_discount_of_rank_two() -> None:
    assert ndcg({2}, 1) == pytest.approx(1 / math.log2(3))


def test_ideal_ranking_scores_one_for_any_number_of_targets() -> None:
    assert ndcg({1, 2, 3}, 3) == pytest.approx(1)
    assert ndcg(set(range(1, 11)), 25) == pytest.approx(1)  # only ten ranks count


def test_one_of_two_targets_in_first_place_scores_its_share_of_the_ideal_gain() -> None:
    assert ndcg({1}, 2) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_a_ranking_without_targets_scores_zero() -> None:
    assert ndcg(set(), 2) == 0.0


def test_ranges_that_share_one_line_overlap() -> None:
    hit = Hit("a.py", ((10, 20), (40, 50)))
    assert hit.overlaps(20, 30)
    assert hit.overlaps(35, 40)
    assert not hit.overlaps(21, 39)


def test_the_limit_of_shown_lines_applies_to_all_ranges_together() -> None:
    hit = Hit("a.py", ((1, 10), (21, 40), (60, 70)))
    assert hit.first_lines(15) == Hit("a.py", ((1, 10), (21, 25)))
    assert hit.first_lines(10) == Hit("a.py", ((1, 10),))
    assert hit.first_lines(100) == hit


def test_one_hit_counts_for_one_target_only() -> None:
    def is_match(hit: Hit, path: str) -> bool:
        return hit.path == path

    once = [Hit("a.py", ((1, 5),)), Hit("b.py", ((1, 5),))]
    assert match_targets(["a.py", "a.py", "c.py"], once, is_match) == {1}
    twice = [*once, Hit("a.py", ((9, 9),))]
    assert match_targets(["a.py", "a.py"], twice, is_match) == {1, 3}
