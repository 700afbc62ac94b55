"""The tables and pairs from which the model of question words is built."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from training.question_words.build import pack_phrases, read_pairs
from training.question_words.phrase_table import (
    FOLDER,
    TableError,
    add_forms,
    read_table,
    read_words,
    weigh_table,
)
from training.question_words.question_vectors import (
    Settings,
    count_subwords,
    reduce_changes,
    train_changes,
)

from rootle.models.shipped import QUESTION_WORDS_V1, model_file
from rootle.rank.question.related_terms import RelatedTermTable, phrase_key


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "words/a.tsv": "basket\tcart orderLine\nthrow away\tdiscard\n",
        "phrases/a.tsv": "evict\tthrow away; kick out\ncart\tbasket\n",
        "irregular_forms.txt": "# comment\nthrow threw thrown\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_both_kinds_of_tables_are_read(folder: Path) -> None:
    table = read_table(folder)
    assert set(table) == {("basket",), ("throw", "away"), ("kick", "out")}
    assert table["basket",]["cart"] == 1.0  # the larger of the two weights
    assert table["basket",]["cart"] > table["basket",]["line"] > 0
    assert table["throw", "away"] == {"discard": 1.0, "evict": 0.9}


def test_phrases_that_open_a_question_are_left_out(folder: Path) -> None:
    (folder / "words" / "b.tsv").write_text("what happened\tevent log\n", encoding="utf-8")
    assert ("what", "happen") not in read_table(folder)


def test_a_line_without_two_columns_is_an_error(folder: Path) -> None:
    (folder / "words" / "b.tsv").write_text("basket cart\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"b\.tsv:1: expected two columns, not 1"):
        read_table(folder)


def test_phrases_that_are_rare_in_questions_weigh_more(folder: Path) -> None:
    questions = ["my basket is empty", "a full basket", "two baskets", "do not throw away this"]
    table = weigh_table(read_table(folder), questions)
    assert table["throw", "away"]["discard"] > table["basket",]["cart"]
    assert table["kick", "out"]["evict"] > table["throw", "away"]["evict"]


def test_irregular_forms_have_the_same_terms(folder: Path) -> None:
    table = add_forms(read_table(folder), folder)
    assert table["threw", "away"] == table["thrown", "away"] == table["throw", "away"]


def test_packed_phrases_can_be_looked_up(folder: Path) -> None:
    terms, arrays = pack_phrases(read_table(folder))
    table = RelatedTermTable(arrays, terms)
    kicked, unknown = table.find([phrase_key(("kick", "out")), phrase_key(("kick", "in"))])
    assert kicked is not None
    assert [term for term, _ in kicked] == ["evict"]
    assert unknown is None


def test_each_term_has_a_word(folder: Path) -> None:
    assert read_words(folder)["evict"] == "evict"
    assert set(pack_phrases(read_table(folder))[0]) <= set(read_words(folder))


def test_training_moves_questions_to_their_answers() -> None:
    rng = np.random.default_rng(0)
    words = [f"word{letter}" for letter in "abcdefgh"]
    row_of = {word: row for row, word in enumerate(words)}
    answers = np.linalg.qr(rng.standard_normal((8, 8)))[0].astype(np.float32)
    questions = np.tile(answers.mean(axis=0), (8, 1)).astype(np.float32)
    bags = count_subwords(words, row_of)
    settings = Settings(epochs=60, batch=8, learning_rate=0.05, dropout=0.0)
    changes = train_changes(bags, questions, answers, settings)
    scores = (questions + bags @ changes) @ answers.T
    assert scores.argmax(axis=1).tolist() == list(range(8))


def test_counts_of_a_text_have_unit_length() -> None:
    bag = count_subwords(["retryBackoff retry unknown"], {"retry": 0, "backoff": 1}).toarray()[0]
    assert bag.tolist() == pytest.approx([np.sqrt(2 / 3), np.sqrt(1 / 3)])


def test_reduced_changes_approximate_the_changes() -> None:
    rng = np.random.default_rng(0)
    changes = (rng.standard_normal((20, 3)) @ rng.standard_normal((3, 8))).astype(np.float32)
    codes, basis = reduce_changes(changes, 3)
    assert codes.shape == (20, 3)
    assert np.allclose(codes @ basis, changes, atol=1e-4)


@pytest.mark.slow
def test_the_package_contains_the_phrases_of_the_tables() -> None:
    questions = [pair.question for pair in read_pairs(FOLDER / "pairs")]
    terms, arrays = pack_phrases(weigh_table(read_table(), questions))
    text = model_file(QUESTION_WORDS_V1, "terms.txt").read_text(encoding="utf-8")
    assert [line.split("\t")[0] for line in text.splitlines()] == terms
    with np.load(model_file(QUESTION_WORDS_V1, "phrases.npz")) as shipped:
        assert all(np.array_equal(shipped[name], arrays[name]) for name in arrays)
