"""The public benchmark: its questions, scores and means."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from benchmarks.common.metrics import Answer
from benchmarks.common.public_questions import FileTarget, public_repositories, target_ranks
from benchmarks.quality.public_benchmark import (
    RepositoryScores,
    format_row,
    make_report,
    score_answers,
    summarize,
)
from label_examples import make_hits


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A benchmark of one repository with two questions."""
    repository = {"name": "demo", "language": "c", "url": "u", "revision": "r"}
    (tmp_path / "repos.json").write_text(json.dumps([{**repository, "benchmark_root": "src"}]))
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations/demo.json").write_text(json.dumps([
        {"query": "first", "relevant": ["src/a.c"], "secondary": ["src/b.c"], "category": "symbol"},
        {"query": "second", "secondary": [],
         "relevant": [{"path": "top.c", "startLine": 5, "endLine": 9}]},
    ]))  # fmt: skip
    (tmp_path / "checkouts/demo/src").mkdir(parents=True)
    for name in ("a.c", "b.c"):
        (tmp_path / "checkouts/demo/src" / name).touch()
    return tmp_path


def test_targets_are_relative_to_the_indexed_folder(bench: Path) -> None:
    (repository,) = public_repositories(bench, bench / "checkouts")
    assert repository.queries == ["first", "second"]
    assert repository.root == bench / "checkouts/demo/src"
    first, second = repository.questions
    assert first.targets == (FileTarget("a.c"), FileTarget("b.c"))
    assert (first.category, second.category) == ("symbol", "")
    assert second.targets == (FileTarget("top.c", 5, 9),)


def test_a_target_has_the_rank_of_its_first_hit() -> None:
    hits = make_hits(("a.c", 1, 4), ("b.c", 1, 9), ("a.c", 5, 9))
    assert target_ranks(hits, [FileTarget("a.c"), FileTarget("b.c", 9, 12)]) == {1, 2}
    assert target_ranks(hits, [FileTarget("a.c", 6, 7), FileTarget("c.c")]) == {3}
    # Two targets with the same first hit count once.
    assert target_ranks(hits, [FileTarget("a.c"), FileTarget("a.c", 2, 3)]) == {1}


def test_scores_are_means_over_questions(bench: Path) -> None:
    (repository,) = public_repositories(bench, bench / "checkouts")
    answers = [
        Answer(make_hits(("b.c", 1, 2)), 10.0),
        Answer(make_hits(("x.c", 1, 9), ("top.c", 9, 9)), 30.0),
    ]
    row = score_answers(repository, answers)
    first, second = 1 / (1 + 1 / math.log2(3)), 1 / math.log2(3)
    assert row.scores == (round(first, 4), round(second, 4))
    assert row.ndcg == pytest.approx((first + second) / 2)
    assert (row.hit1, row.hit10, row.ms, row.questions) == (0.5, 1.0, 20.0, 2)


def scores(ndcg: float, questions: int, ms: float, skipped: float | None) -> RepositoryScores:
    return RepositoryScores("demo", "c", questions, ndcg, ndcg, ndcg, ms, (), skipped)


def test_the_summary_weighs_repositories_equally() -> None:
    summary = summarize([
        scores(0.2, 1, 1.0, 0.5), scores(0.4, 99, 2.0, 0.0), scores(0.9, 2, 9.0, 0.1)
    ])  # fmt: skip
    assert summary.ndcg == pytest.approx(0.5)
    assert (summary.ms, summary.questions) == (2.0, 102)
    assert summary.skipped_text == pytest.approx(0.2)
    assert summarize([scores(0.2, 1, 1.0, None)]).skipped_text is None


def test_rows_and_reports_name_the_systems() -> None:
    row = scores(0.25, 4, 3.21, 0.125)
    assert format_row("demo", "c", row) == (
        "demo               c                  NDCG@10 0.250  hit@1 0.25  hit@10 0.25     3.2 ms"
        "  text skipped 12.5%"
    )
    report = make_report({"rootle": [row], "other": [row]}, {"rootle": row, "other": row})
    assert sorted(report) == ["others", "repositories", "summary"]
