"""The labeled facts and questions, and the quality of `recall` on the half not used for tuning."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.memory.fact_recall import DATA, HALVES, format_figures, measure, open_memory
from benchmarks.memory.fact_recall import read_questions as read


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_a_hundred_pairs_and_questions_without_an_answer(half: str) -> None:
    questions = [one for one in read(DATA) if one.half == half]
    assert len([one for one in questions if one.memory]) >= 100
    assert len([one for one in questions if not one.memory]) >= 40
    assert (
        len({one.memory for one in questions}) == len([one for one in questions if one.memory]) + 1
    )


def test_the_halves_have_no_fact_in_common() -> None:
    tune, test = ({one.memory for one in read(DATA) if one.half == half} for half in HALVES)
    assert tune & test == {""}


@pytest.mark.slow
def test_facts_are_found_by_questions_in_other_words() -> None:
    figures = measure([one for one in read(DATA) if one.half == "test"])
    # The limits are close to the measured values: 0.73, 0.375 and 0.05. Without the words of
    # `subjects.tsv`, the values are 0.07, 0.425 and 0.025.
    assert figures.recall_at_7 >= 0.7
    assert figures.false_recall <= 0.4
    assert figures.false_prefetch <= 0.05
    assert "recall at 7" in format_figures({"test": figures})


@pytest.mark.parametrize(
    ("topic", "fact"),
    [
        ("dietary preferences", "The user is vegetarian"),
        ("does the user have pets", "The user has two cats"),
        ("what time zone is the user in", "The user works from nine to five in CET"),
    ],
)
def test_a_fact_is_found_by_its_subject(topic: str, fact: str, tmp_path: Path) -> None:
    memory = open_memory(tmp_path, ["Deploy on Thursdays", fact, "The parser is slow"])
    assert [one.text for one in memory.recall(topic)][:1] == [fact]
    memory.close()


def test_words_that_every_question_has_find_nothing(tmp_path: Path) -> None:
    memory = open_memory(tmp_path, ["The user has a newborn son", "The user's mother is ill"])
    assert memory.recall("has the user ever been to Australia") == []
    assert memory.recall("what is the user's shoe size") == []
    memory.close()
