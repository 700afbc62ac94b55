"""The lists of repositories that the benchmarks search: `repos.json`, `repositories.json`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path


class RepositoryListError(Exception):
    """Raised when a list is unreadable or lacks a requested repository."""


@dataclass(frozen=True, slots=True)
class Repository:
    """One entry of a list."""

    name: str
    language: str
    url: str
    revision: str  # the pinned commit
    split: str = ""
    subfolder: str = ""  # the folder to index, if it is not the whole checkout

    def root(self, checkouts: Path) -> Path:
        """Return the folder to index, given the folder of all checkouts."""
        return checkouts / self.name / self.subfolder


def read_repositories(path: Path) -> list[Repository]:
    """Return the entries of a list. Raise RepositoryListError if it cannot be read."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RepositoryListError(f"no list of repositories: {error}") from error
    return [
        Repository(
            record["name"], record["language"], record["url"], record["revision"],
            record.get("split", ""), record.get("benchmark_root") or "",
        )
        for record in records
    ]  # fmt: skip


def select_repositories(
    listed: Sequence[Repository], only: Collection[str] = (), split: str | None = None
) -> list[Repository]:
    """Return the repositories with these names (default: all) in this split (default: any)."""
    if unknown := set(only) - {one.name for one in listed}:
        raise RepositoryListError(f"not in the list: {', '.join(sorted(unknown))}")
    return [
        one
        for one in listed
        if (not only or one.name in only) and (split is None or one.split == split)
    ]
