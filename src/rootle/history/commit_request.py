"""The common part of requests that are answered only from commits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rootle.errors import QueryError
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.removed_definitions import RemovedDefinitions

PARTIAL: Final = "history"  # the name in `degraded` if not all commits are indexed yet

OpenCommits = Callable[[], CommitSearch | str]  # returns a message if there are no commits


@dataclass(frozen=True, slots=True)
class PreparedCommits:
    """The commits for a request, after new ones were indexed for a limited time."""

    search: CommitSearch
    view: CommitView | None  # None if no commit is indexed yet
    note: str  # why some commits are not searched; "" if all are searched

    @property
    def degraded(self) -> tuple[str, ...]:
        """The degradations of the answer."""
        return (PARTIAL,) if self.note else ()

    @property
    def suggestions(self) -> tuple[str, ...]:
        """The suggestions of the answer."""
        return (self.note,) if self.note else ()


def prepare_commits(
    open_commits: OpenCommits, advice: str = "", removed: RemovedDefinitions | None = None
) -> PreparedCommits:
    """Index new commits, and the definitions that they removed, for a limited time.

    Raise QueryError, with `advice` at the end of its message, if there are no commits to search.
    """
    search = open_commits()
    if isinstance(search, str):
        raise QueryError(f"{search}{advice}")
    note = prepare_indexes(search, removed)
    return PreparedCommits(search, search.view(), note)


def prepare_indexes(search: CommitSearch, removed: RemovedDefinitions | None) -> str:
    """Index new commits, and the definitions that they removed, for a limited time.

    Return "", or a note that not all commits are searched.
    """
    if removed is None:
        return search.prepare()
    started_s = time.perf_counter()
    removed.updates.update_in_background()
    note = search.prepare()
    left_s = search.wait_s - (time.perf_counter() - started_s)
    return note or removed.updates.prepare(max(0.0, left_s))


def check_limit(limit: int | None, default: int, maximum: int) -> int:
    """Return the number of results. Raise QueryError if the limit is out of range."""
    count = default if limit is None else limit
    if not 1 <= count <= maximum:
        raise QueryError(f"limit must be from 1 to {maximum}, not {count}")
    return count


def elapsed_ms(started_s: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter`."""
    return round((time.perf_counter() - started_s) * 1000, 3)
