"""The table that compares search systems: cached answers, paired differences and Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.common.labels import LabeledRepository
from benchmarks.common.metrics import Answer
from benchmarks.quality.answer_cache import AnswerCache, QuestionSet
from benchmarks.quality.system_comparison import (
    TableRow,
    cluster_mean,
    complete_systems,
    format_lead,
    format_table,
    label_questions,
    label_table,
)
from label_examples import make_hits, make_label

_FOUND = Answer(make_hits(("a.py", 1, 9)))
_MISSED = Answer(make_hits(("b.py", 1, 9)))


def test_cached_answers_come_back_in_the_order_of_the_questions(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    both = QuestionSet("labels", "repo", tmp_path, ("one", "two"))
    assert not cache.contains("a system", both)
    cache.store("a system", both, [_FOUND, _MISSED])
    assert cache.contains("a system", both)
    assert not cache.contains("a system", QuestionSet("bench", "repo", tmp_path, ("one",)))
    reverse = QuestionSet("labels", "repo", tmp_path, ("two", "one"))
    assert cache.load("a system", reverse) == [_MISSED, _FOUND]
    more = QuestionSet("labels", "repo", tmp_path, ("one", "three"))
    assert not cache.contains("a system", more)


def test_the_lead_is_the_mean_of_paired_differences() -> None:
    assert format_lead([[0.5, 0.5], [1.0]], [[0.25, 0.25], [0.75]]) == "+0.250 (+0.250 to +0.250)"
    assert format_lead([[0.0]], [[1.0]]).startswith("-1.000")
    assert cluster_mean([[0.0, 1.0], [1.0]]) == 0.75


def test_the_best_system_comes_first() -> None:
    rows = {
        "git grep": TableRow([[0.9]], ("x",)),
        "rootle": TableRow([[0.5]], ("y",)),
    }
    lines = format_table(("NDCG@10",), rows).splitlines()
    assert lines[:2] == ["| system | NDCG@10 | rootle is ahead by |", "| --- | --- | --- |"]
    assert lines[2].startswith("| git grep (files with most of the words) | x | -0.400 (")
    assert lines[3] == "| **rootle** | y |  |"


def test_systems_without_all_answers_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("x\n" * 9)
    labels = (make_label([("a.py", 1, 9)]), make_label(kind="none"))
    repository = LabeledRepository("repo", "test", tmp_path, labels)
    questions = label_questions(repository)
    assert questions.queries == ("a question",)
    cache = AnswerCache(tmp_path / "answers")
    cache.store("rootle", questions, [_FOUND])
    cache.store("git grep", questions, [_MISSED])
    assert complete_systems(cache, [questions]) == ["rootle", "git grep"]
    assert "plain BM25 is left out: no answers about repo" in capsys.readouterr().err
    table = label_table(cache, [repository])
    assert "| **rootle** | 1.000 (1.000–1.000) | 1.000 (1.000–1.000) | 1.00 | 1.00 |" in table
    assert "+1.000 (+1.000 to +1.000)" in table
