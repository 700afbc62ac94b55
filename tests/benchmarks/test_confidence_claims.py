"""The benchmark of confidence notes: which notes count as false, and the printed figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.common.labels import LABELS
from benchmarks.quality.confidence_claims import (
    Question,
    Texts,
    Verdict,
    false_claims,
    format_table,
    is_wrong,
    parse_questions,
)
from sample import make_repository


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    files = {"moon/a.py": "happyend = 1\n", "made.py": "generated\n"}
    return Texts(make_repository(tmp_path / "repo", files), {"made.py"})


@pytest.mark.parametrize(
    ("note", "false"),
    [
        ('not confident: no indexed text has the word "happy" or "sad"; try', ("happy",)),
        ('no indexed text has the word "moon"', ("moon",)),
        ('no indexed text has the word "generated"', ()),
        ('no indexed text has the word "sad", "untyped" or "words"', ("untyped", "words")),
        ('not confident: "happy", "sad" occur nowhere here; the answer', ("happy",)),
        ('no indexed text has the name "happy"', ()),
    ],
)
def test_a_claim_about_a_word_that_occurs_or_was_not_typed_is_false(
    note: str, false: tuple[str, ...], texts: Texts
) -> None:
    assert false_claims("happy sad moon generated", [note], texts) == false


def test_the_table_counts_verdicts_by_language() -> None:
    answerable = Question("click", "en", "a", "a.py")
    none = Question("click", "de", "b", None)
    verdicts = [Verdict(answerable, True, ()), Verdict(none, True, ("b",))]
    assert [is_wrong(one) for one in verdicts] == [False, True]
    rows = [line.split() for line in format_table(verdicts).splitlines()[1:]]
    assert rows[0] == ["en", *"1 of 1 0 of 0 0".split()]
    assert rows[1] == ["de", *"0 of 0 1 of 1 1".split()]
    assert rows[3] == ["all", *"1 of 1 1 of 1 1".split()]


def test_half_of_the_questions_are_answerable() -> None:
    text = (LABELS / "confidence" / "questions.jsonl").read_text(encoding="utf-8")
    questions = [one for group in parse_questions(text).values() for one in group]
    assert len(questions) == 60
    assert sum(one.path is None for one in questions) == 30
    assert {one.language for one in questions} == {"en", "de", "fr"}
