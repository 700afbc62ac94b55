"""A tiny repository with labels, a history and a public benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.common import labels
from benchmarks.common.git import run_git
from benchmarks.history import changed_files

_BADGER = """def feed_badger(meal):
    # The hungry badger eats at night.
    return meal
"""
_OTTER = """def swim_otter(river):
    # The otter swims across the river.
    return river
"""
_HERON = """def nest_heron(tree):
    # The heron builds a nest in spring.
    return tree
"""
_FILES = {"badger.py": _BADGER, "otter.py": _OTTER, "heron.py": _HERON}
_LABELS = [
    {
        "query": "when does the hungry badger eat",
        "kind": "behaviour",
        "targets": [[{"path": "badger.py", "lines": "1-3"}]],
    },
    {"query": "where is the elephant washed", "kind": "none", "targets": []},
]
_QUESTIONS = [
    {"query": "when does the hungry badger eat", "relevant": ["badger.py"], "secondary": []},
    {"query": "who swims across the river", "relevant": ["otter.py"], "secondary": []},
    {"query": "where is the nest of the heron", "relevant": ["heron.py"], "secondary": []},
]
_ENTRY = {"name": "zoo", "language": "python", "url": "https://example.invalid/zoo"}


def make_zoo(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Create `checkouts/zoo` with two commits, `labels`, `bench` and `repositories.json`.

    The benchmarks then read labels and histories from this folder. The public benchmark has a
    second repository without a checkout.
    """
    clone = folder / "checkouts/zoo"
    clone.mkdir(parents=True)
    for name, text in _FILES.items():
        (clone / name).write_text(text)
    run_git(clone, "init", "-q", "-b", "main")
    _commit(clone, "First state of all animals", 0, monkeypatch)
    (clone / "otter.py").write_text(_OTTER + "\n\ndef dive_otter():\n    return 2\n")
    _commit(clone, "Let the otter dive below the river surface", 1, monkeypatch)
    entry = {**_ENTRY, "revision": run_git(clone, "rev-parse", "HEAD").strip()}

    _write(folder / "labels/repositories.json", [{**entry, "split": "tune"}])
    (folder / "labels/zoo.jsonl").write_text("\n".join(map(json.dumps, _LABELS)))
    monkeypatch.setattr(labels, "LABELS", folder / "labels")
    monkeypatch.setattr(labels, "LABEL_REPOSITORIES", folder / "labels/repositories.json")

    _write(folder / "repositories.json", [{**entry, "split": "held-out"}])
    monkeypatch.setattr(changed_files, "REPOSITORIES", folder / "repositories.json")

    _write(folder / "bench/repos.json", [entry, {**entry, "name": "lost"}])
    for name in ("zoo", "lost"):
        _write(folder / f"bench/annotations/{name}.json", _QUESTIONS)


def _commit(clone: Path, message: str, minute: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"2024-01-01T00:0{minute}:00Z")
    run_git(clone, "add", ".")
    run_git(clone, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", message)


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
