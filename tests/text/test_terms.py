"""Words and texts in NFC, and positions in the texts as they were written."""

from __future__ import annotations

import unicodedata

from rootle.text.terms import compose, find_words, places_before_composition


def test_words_are_the_same_in_both_forms() -> None:
    text = "café_total et Élèves"
    assert find_words(unicodedata.normalize("NFD", text)) == text.split()


def test_positions_are_converted_by_line() -> None:
    text = unicodedata.normalize("NFD", "é é\nété x\n\nélève")
    composed = compose(text)
    places = [composed.index(part) for part in ("été", "x", "élève")]
    before = places_before_composition(places, composed, text)
    assert [text.count("\n", 0, at) for at in before] == [1, 1, 3]
    assert (before[0], before[2]) == (text.index("\n") + 1, text.rindex("\n") + 1)


def test_a_position_is_never_after_its_line() -> None:
    text = "\u0958\u0958 x\ny"  # in NFC, each of the first two characters becomes two
    composed = compose(text)
    assert len(composed) > len(text)
    assert places_before_composition([composed.index("x")], composed, text) == [text.index("\n")]
