"""Questions of the public benchmark, from `repos.json` and `annotations/` in its folder."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.metrics import Hit
from benchmarks.common.repositories import Repository, read_repositories, select_repositories


@dataclass(frozen=True)
class FileTarget:
    """A file that answers a question, with the lines if the benchmark names them."""

    path: str  # relative to the indexed folder
    start_line: int = 0
    end_line: int = 0  # 0 if any line of the file answers it

    def is_met_by(self, hit: Hit) -> bool:
        if hit.path != self.path:
            return False
        return not self.end_line or hit.overlaps(self.start_line, self.end_line)


@dataclass(frozen=True)
class PublicQuestion:
    """A question with its targets, primary ones first."""

    query: str
    category: str
    targets: tuple[FileTarget, ...]


@dataclass(frozen=True)
class PublicRepository:
    """A checkout and the questions about it."""

    repository: Repository
    root: Path
    questions: tuple[PublicQuestion, ...]

    @property
    def name(self) -> str:
        return self.repository.name

    @property
    def queries(self) -> list[str]:
        return [question.query for question in self.questions]


def public_repositories(
    bench: Path, checkouts: Path, only: Collection[str] = ()
) -> list[PublicRepository]:
    """Return the benchmark's repositories with these names, or all if no name is given."""
    return [
        PublicRepository(one, one.root(checkouts), read_questions(bench, one, checkouts))
        for one in select_repositories(read_repositories(bench / "repos.json"), only)
    ]


def read_questions(
    bench: Path, repository: Repository, checkouts: Path
) -> tuple[PublicQuestion, ...]:
    """Return the questions about one repository."""
    root = repository.root(checkouts)
    text = (bench / "annotations" / f"{repository.name}.json").read_text(encoding="utf-8")
    return tuple(parse_question(record, root, repository.subfolder) for record in json.loads(text))


def parse_question(record: Mapping[str, Any], root: Path, subfolder: str) -> PublicQuestion:
    """Return one question with its targets relative to the indexed folder."""
    entries = (*record["relevant"], *record["secondary"])
    targets = tuple(_parse_target(entry, root, subfolder) for entry in entries)
    return PublicQuestion(record["query"], record.get("category", ""), targets)


def _parse_target(entry: str | Mapping[str, Any], root: Path, subfolder: str) -> FileTarget:
    record = {"path": entry} if isinstance(entry, str) else entry
    path = record["path"]
    inside = path.removeprefix(f"{subfolder.rstrip('/')}/")
    start = record.get("start_line") or record.get("startLine") or record.get("start") or 0
    end = record.get("end_line") or record.get("endLine") or record.get("end") or 0
    return FileTarget(inside if (root / inside).exists() else path, int(start), int(end))


def target_ranks(hits: Sequence[Hit], targets: Sequence[FileTarget]) -> set[int]:
    """Return the ranks of the hits that are the first to match some target."""
    ranks = set()
    for target in targets:
        first = (rank for rank, hit in enumerate(hits, start=1) if target.is_met_by(hit))
        ranks.add(next(first, 0))
    return ranks - {0}
