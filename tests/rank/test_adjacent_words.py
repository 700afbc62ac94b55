"""Adjacent words of a question that are adjacent in a text."""

from __future__ import annotations

import pytest

from rootle.rank.adjacent_words import word_order


def test_a_quoted_message_shares_its_pairs_and_triples() -> None:
    order = word_order("duplicate manual mock found")
    assert order.shares_in(["throw Error(`duplicate manual mock found: ${name}`)"]) == (1.0, 1.0)
    assert order.shares_in(["found a mock in the manual of a duplicate"]) == (0.0, 0.0)


def test_the_best_text_counts_and_endings_are_ignored() -> None:
    order = word_order("idle connections limit")
    pairs, triples = order.shares_in(["the limit", "idle_connection of a pool", "idle limit"])
    assert pairs == pytest.approx(1 / 2)
    assert triples == 0.0


def test_pairs_of_function_words_do_not_count() -> None:
    order = word_order("what is the retry delay")
    assert order.shares_in(["this is the only one"]) == (0.0, 0.0)
    assert order.shares_in(["the retry delay"])[0] > 0.5


@pytest.mark.parametrize("text", ["", "retry", "\ud800 \0"])
def test_texts_without_pairs_share_nothing(text: str) -> None:
    assert word_order(text).shares_in(["retry delay", text]) == (0.0, 0.0)
