"""Repeated first searches: the required places that an answer shows, and its confidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from agent_loop_zoo import make_workspace
from benchmarks.agent_loop.first_searches import examine, first_queries, group_figures
from benchmarks.agent_loop.session_log import SessionRecord, ToolCall
from benchmarks.agent_loop.tasks import AgentTask


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, AgentTask]:
    return make_workspace(tmp_path, monkeypatch)


def record(*tools: str) -> SessionRecord:
    calls = tuple(ToolCall(tool, {"query": tool}, 100, 0.1) for tool in tools)
    return SessionRecord("z2.rootle.a", "z2", "rootle", "a", 100, calls, (), False, 1.0)


def test_only_sessions_that_begin_with_a_search_are_repeated() -> None:
    searched = record("vectordb_search", "grep")
    found = first_queries([searched, record("grep", "vectordb_search"), record()])
    assert found == [(searched, {"query": "vectordb_search"})]


def test_shown_places_and_weak_answers_are_counted(
    tasks: dict[str, AgentTask], tmp_path: Path
) -> None:
    task = tasks["z2"]
    root = tmp_path / "checkouts" / task.repository
    lines = [f"{number}  {text}" for number, text in enumerate(["a", "b", "c"], start=4)]
    shows_one = "\n".join(["1. otter.py:4-6 def swim (0.9)", *lines])
    one = examine(record("vectordb_search"), task, shows_one, root, 3)
    assert (one.shown, one.required, one.is_file_first, one.is_weak) == (1, 2, True, False)
    weak = "Note: not confident: …\n\n1. heron.py:1-2 (0.1)"
    other = examine(record("vectordb_search"), task, weak, root, 3)
    assert (other.shown, other.is_file_first, other.is_weak) == (0, False, True)
    figures = group_figures([one, other, replace(one, shown=2)], tasks)["all"]
    assert (figures["all"], figures["any"], figures["file"]) == (0.333, 0.667, 0.667)
    assert (figures["weak"], figures["right"]) == (0.333, 0.0)
