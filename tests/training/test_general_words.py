"""The rows of general words, which are taught by another model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from training.embedding import general_words
from training.embedding.general_words import (
    Table,
    center,
    choose_new_words,
    mean_of_similar,
    read_words,
    teach,
)


@pytest.fixture(autouse=True)
def few_kept_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(general_words, "KEPT_WORDS", 1)


def unit(*numbers: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.array(numbers, np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def test_only_words_of_a_dictionary_with_a_new_stem_replace_numbers() -> None:
    vocabulary = ["404", "order", "8080", "17", "99"]
    frequent = ["orders", "smith", "parcel", "parcels", "hotel"]
    dictionary = {"orders", "parcel", "parcels", "hotel"}
    assert choose_new_words(vocabulary, frequent, dictionary) == ["parcel", "hotel"]


def test_there_are_not_more_new_words_than_rare_numbers() -> None:
    assert choose_new_words(["404", "17"], ["parcel", "hotel"], {"parcel", "hotel"}) == ["parcel"]


def test_names_and_short_words_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("hotel\nAda\nof\ncafé\nit's\nlease\n", encoding="utf-8")
    assert read_words(path) == ["hotel", "lease"]


def test_a_row_moves_toward_the_row_of_a_similar_word_and_keeps_its_length() -> None:
    rows = np.array([[0, 0], [2, 0], [0, 3], [1, 1]], np.float32)
    table = Table(rows, ["404", "typo", "misspelling", "17"])
    teacher = {"typo": unit(1, 0.1), "misspelling": unit(1, 0)}
    changed = teach(table, ["typo", "misspelling", "unknown"], teacher, ())
    assert changed.words == table.words
    before, after = rows[1] / 2, changed.rows[1] / 2
    assert after @ unit(0, 1) > before @ unit(0, 1)
    assert np.linalg.norm(changed.rows[1:3], axis=1) == pytest.approx([2, 3], rel=1e-5)
    assert (changed.rows[3] == rows[3]).all()


def test_an_added_word_gets_the_row_of_a_number_and_the_direction_of_similar_words() -> None:
    rows = np.array([[5, 5], [2, 0], [0, 3], [1, 1]], np.float32)
    table = Table(rows, ["404", "ship", "song", "17"])
    teacher = {"ship": unit(1, 0), "song": unit(0, 1), "vessel": unit(1, 0.1)}
    changed = teach(table, ["ship", "song"], teacher, ["vessel"])
    assert list(changed.words) == ["404", "ship", "song", "vessel"]
    assert changed.rows[3] @ unit(1, 0) > 0.8 > changed.rows[3] @ unit(0, 1)
    assert np.linalg.norm(changed.rows[3]) == pytest.approx(general_words.NEW_LENGTH, rel=1e-5)


def test_a_word_is_not_similar_to_itself() -> None:
    meanings = np.array([unit(1, 0), unit(1, 0.2), unit(0, 1)])
    units = np.array([unit(1, 0), unit(0, 1), unit(-1, 0)])
    means = mean_of_similar(meanings, meanings, units, leave_out_same=True)
    assert means[0] @ unit(0, 1) > 0.9


def test_vectors_are_centered_on_the_known_words() -> None:
    vectors = np.array([[2, 1], [0, 1], [1, 4]], np.float32)
    assert center(vectors, known=2) == pytest.approx(
        np.array([[1, 0], [-1, 0], [0, 1]], np.float32)
    )
