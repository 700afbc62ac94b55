"""Figures of recorded agent queries: ids, missing questions, scores by the label's targets."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from benchmarks.common.labels import LabeledRepository, parse_labels
from benchmarks.quality.agent_queries import (
    RecordingError,
    format_figures,
    read_queries,
    recorded_questions,
    score_recorded,
)
from benchmarks.quality.label_scores import summarize
from benchmarks.renaming.labels import renamed_repository

from rootle import App, SearchQuery

LABELS: list[dict[str, Any]] = [
    {"query": "when is a page kept", "kind": "behaviour",
     "targets": [[{"path": "a.py", "lines": "1-9"}]]},
    {"query": "who calls it", "kind": "symbol", "targets": [[{"path": "b.py", "lines": "1-9"}]]},
    {"query": "pay by card", "kind": "none", "targets": []},
]  # fmt: skip
LABEL_FILE = "".join(json.dumps(label) + "\n" for label in LABELS)


class FakeApp:
    """Answers each query with places "path:start-end", and records the queries."""

    def __init__(self, answers: dict[str, tuple[list[str], bool]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def search(self, query: SearchQuery) -> SimpleNamespace:
        self.asked.append(query.text_query)
        places, confident = self.answers[query.text_query]
        return SimpleNamespace(results=[self.result(one) for one in places], confident=confident)

    @staticmethod
    def result(place: str) -> SimpleNamespace:
        path, _, lines = place.partition(":")
        start, _, end = lines.partition("-")
        return SimpleNamespace(
            file_path=path, start_line=int(start), end_line=int(end), more_spans=()
        )


@pytest.fixture
def repository(tmp_path: Path) -> LabeledRepository:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("when is a page kept\n" * 9)
    return LabeledRepository("demo", "tune", tmp_path, tuple(parse_labels("demo", LABEL_FILE)))


def record(path: Path, *rows: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_queries_belong_to_the_lines_of_the_label_file(
    repository: LabeledRepository, tmp_path: Path
) -> None:
    rows = [{"id": "demo-3", "query": "card payment"}, {"id": "demo-1", "query": "page_cache"}]
    queries = read_queries(record(tmp_path / "q.jsonl", *rows, {"id": "demo-13", "query": "x"}))
    asked = recorded_questions(repository, queries)
    first, _, third = repository.labels
    assert asked == [(first, "page_cache"), (third, "card payment")]


def test_without_a_recording_every_labeled_question_is_asked(repository: LabeledRepository) -> None:
    asked = recorded_questions(repository, None)
    assert [query for _, query in asked] == [label["query"] for label in LABELS]


def test_the_recorded_query_is_asked_and_scored_with_the_target_of_its_question(
    repository: LabeledRepository,
) -> None:
    app = FakeApp(
        {
            # The answer is in second place, so the NDCG is 1 / log2(3).
            "page_cache": (["b.py:1-3", "a.py:5-6"], True),
            # The lines are right, but the answer is reported as not confident.
            "callers": (["b.py:4-4"], False),
            "card": ([], True),  # an empty answer counts as a recognized unanswerable question
        }
    )
    asked = list(zip(repository.labels, app.answers, strict=True))
    figures = summarize({"demo": score_recorded(cast("App", app), repository.root, asked)})
    assert app.asked == ["page_cache", "callers", "card"]
    assert figures["span_ndcg"] == pytest.approx((0.6309 + 1) / 2, abs=1e-4)
    assert figures["span_hit1"] == 0.5
    assert figures["span_hit10"] == 1.0
    assert figures["unanswerable_recognized"] == 1.0
    assert figures["answerable_refused"] == 0.5
    row = format_figures("recorded", figures)
    assert row.split()[:2] == ["recorded", "0.815"]


@pytest.mark.parametrize(
    "text", ["", "{}\n", "no json\n", '{"id": "a-1", "query": " "}\n', '[{"id": 1}]\n']
)
def test_a_malformed_recording_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(text)
    with pytest.raises(RecordingError):
        read_queries(file)


def test_a_recording_with_two_queries_for_one_question_is_refused(tmp_path: Path) -> None:
    rows = [{"id": "demo-1", "query": "one"}, {"id": "demo-1", "query": "two"}]
    with pytest.raises(RecordingError, match="demo-1"):
        read_queries(record(tmp_path / "q.jsonl", *rows))
    with pytest.raises(RecordingError):
        read_queries(tmp_path / "missing.jsonl")


def test_a_renamed_repository_has_the_questions_and_the_files_of_its_copy(
    repository: LabeledRepository, tmp_path: Path
) -> None:
    copies = tmp_path / "copies"
    (copies / "labels").mkdir(parents=True)
    (copies / "labels" / "demo.jsonl").write_text(LABEL_FILE.replace("a.py", "z.py"))
    renamed = renamed_repository(copies, repository)
    assert renamed.root == copies / "demo"
    assert [span.path for span in renamed.labels[0].spans()] == ["z.py"]
    assert (renamed.name, renamed.split) == ("demo", "tune")
