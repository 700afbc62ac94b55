"""Labels of the history benchmarks, from `benchmarks/labels/history/`."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common.labels import LABEL_REPOSITORIES, LABELS
from benchmarks.common.repositories import Repository, read_repositories, select_repositories

HISTORY_LABELS: Final = LABELS / "history"
AGENT_QUERIES: Final = HISTORY_LABELS / "agent_queries.jsonl"
PLAIN: Final = "plain"  # the question shares words with the commit message
CHANGE: Final = "change"  # the question asks which commit made one change
HARD: Final = "hard"  # at most half of the question's content words are in the message


@dataclass(frozen=True)
class HistoryQuestion:
    """A question about the past, with the full hashes of the commits that answer it."""

    query: str
    kind: str
    commits: frozenset[str]


@dataclass(frozen=True)
class LabeledPlace:
    """A line, as `path:line`, with the commits that gave it its present meaning."""

    repository: str
    place: str
    commits: frozenset[str]


@dataclass(frozen=True)
class RemovedFunction:
    """A function that no longer exists, with a description and the commits that removed it."""

    repository: str
    name: str
    path: str
    query: str
    commits: frozenset[str]


def history_repositories(only: Collection[str] = (), split: str | None = None) -> list[Repository]:
    """Return the repositories that have questions about their history."""
    listed = select_repositories(read_repositories(LABEL_REPOSITORIES), only, split)
    return [one for one in listed if read_questions(one.name) or read_changes(one.name)]


def read_questions(name: str) -> list[HistoryQuestion]:
    """Return the questions about one repository, in the order of the file."""
    path = HISTORY_LABELS / f"{name}.jsonl"
    return [
        HistoryQuestion(one["query"], one["kind"], frozenset(one["commits"]))
        for one in (_records(path) if path.exists() else ())
    ]


def read_changes(name: str) -> list[HistoryQuestion]:
    """Return the questions that ask about a single change, such as a removal or a renaming."""
    return [
        HistoryQuestion(one["query"], CHANGE, frozenset(one["commits"]))
        for one in _records(HISTORY_LABELS / "changes.jsonl")
        if one["repository"] == name
    ]


def read_agent_queries() -> dict[str, str]:
    """Return the agent's query for each question.

    The key is "REPOSITORY-LINE", where LINE is the number of the question in its file, from 1.
    """
    if not AGENT_QUERIES.exists():
        return {}
    return {one["id"]: one["query"] for one in _records(AGENT_QUERIES)}


def read_places(name: str) -> list[LabeledPlace]:
    """Return the labeled lines of one repository."""
    return [
        LabeledPlace(name, one["place"], frozenset(one["commits"]))
        for one in _records(HISTORY_LABELS / "why.jsonl")
        if one["repository"] == name
    ]


def read_removed_functions(name: str) -> list[RemovedFunction]:
    """Return the removed functions of one repository."""
    return [
        RemovedFunction(name, one["name"], one["path"], one["query"], frozenset(one["commits"]))
        for one in _records(HISTORY_LABELS / "gone.jsonl")
        if one["repository"] == name
    ]


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
