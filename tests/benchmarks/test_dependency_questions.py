"""Figures and labels of the benchmark that asks questions about packages."""

from __future__ import annotations

import ast
import json
from dataclasses import replace

import pytest
from benchmarks.quality.dependency_questions import (
    LABELS,
    PROJECTS,
    Label,
    find_lines,
    list_definitions,
    path_in_package,
    select_half,
    summarize,
)

from rootle import SearchResponse, SearchResult
from rootle.types import FileMetadata, Span

_TEXT = '''\
class Client:
    """Sends requests."""

    def send(self):
        return 1

    class Inner:
        x = 1


def run(): ...
'''


def _result(path: str, first: int, last: int) -> SearchResult:
    metadata = FileMetadata(None, "python", 1)
    return SearchResult(path, first, last, "", 1.0, "merged", metadata)


def _response(*results: SearchResult) -> SearchResponse:
    return SearchResponse(results, None, (), None, 1, 1.0)


def test_the_lines_of_a_class_end_before_its_first_method() -> None:
    found = dict(list_definitions(ast.parse(_TEXT)))
    assert found == {
        "Client": range(1, 4),
        "Client.send": range(4, 6),
        "Client.Inner": range(7, 9),
        "run": range(11, 12),
    }


def test_an_answer_is_a_definition_or_the_lines_with_a_text() -> None:
    assert find_lines(_TEXT, {"path": "a.py", "definition": "run"}) == [range(11, 12)]
    assert find_lines(_TEXT, {"path": "a.py", "text": "Sends"}) == [range(2, 3)]
    with pytest.raises(ValueError, match="gone"):
        find_lines(_TEXT, {"path": "a.py", "definition": "gone"})


def test_a_result_answers_if_one_of_its_spans_shows_a_line_of_the_answer() -> None:
    label = Label("old", "?", {"a/b.py": [range(10, 20)]})
    before, inside = _result("deps:a@1/a/b.py", 1, 9), _result("deps:a@1/a/b.py", 19, 30)
    other = _result("deps:a@1/a/c.py", 10, 20)
    assert label.rank(_response(before, other)) is None
    assert label.rank(_response(other, before, inside)) == 3
    second = replace(before, more_spans=(Span(10, 10, "", ""),))
    assert label.rank(_response(second)) == 1


def test_the_path_in_a_package_has_no_version() -> None:
    assert path_in_package("deps:httpx@0.28.1/httpx/_client.py") == "httpx/_client.py"


def test_the_summary_counts_answers_by_depth() -> None:
    report = summarize([1, 3, 5, None], 2)
    assert report["questions"] == 4
    assert report["answered in the first 1"] == 0.25
    assert report["answered in the first 3"] == 0.5
    assert report["answered in the first 5"] == 0.75
    assert report["results of other versions"] == 2


def test_the_labels_ask_at_least_80_questions_of_projects_with_conflicting_versions() -> None:
    lines = (LABELS / "questions.jsonl").read_text("utf-8").splitlines()
    labels = [json.loads(line) for line in lines]
    assert len(labels) >= 80
    assert {label["project"] for label in labels} == set(PROJECTS)
    assert all(label["answers"] for label in labels)
    old, new = (
        dict(line.split("==") for line in (LABELS / f"{one}.txt").read_text("utf-8").split())
        for one in PROJECTS
    )
    assert old.keys() == new.keys()
    assert all(old[name] != new[name] for name in old)


def test_a_question_is_in_the_same_half_for_both_projects() -> None:
    labels = [Label(project, name, {}) for project in PROJECTS for name in ("a", "b", "c")]
    tune = select_half(labels, "tune")
    assert [(one.project, one.question) for one in tune] == [
        (project, name) for project in PROJECTS for name in ("a", "c")
    ]
    assert len(select_half(labels, "test")) == 2
    assert select_half(labels, None) == labels
