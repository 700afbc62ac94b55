"""The common part of requests that are answered only from commits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from rootle.errors import QueryError
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.removals.removed_definitions import RemovedDefinitions
from rootle.search.stages.low_confidence import LOW_CONFIDENCE
from rootle.types import PARTIAL_HISTORY, SearchResponse

# The share of the commits that must be indexed before an answer can be confident. A pull adds only
# a few commits, which are rarely the answer.
_ENOUGH_COMMITS: Final = 0.95
_MAY_BE_MISSING: Final = "a commit that is not indexed yet may be the answer"
OpenCommits = Callable[[], CommitSearch | str]  # returns a message if there are no commits


@dataclass(frozen=True, slots=True)
class IndexGap:
    """The reasons why the indexes of commits and of removed definitions are incomplete or old."""

    commits: str = ""  # the reason why not all commits are indexed; "" if all are
    removed: str = ""  # the same for the definitions that commits removed
    rebuild: str = ""  # the result of `CommitUpdates.describe_rebuild`
    clone: str = ""  # the result of `CommitUpdates.describe_clone`

    @property
    def degraded(self) -> tuple[str, ...]:
        """The degradations of the answer."""
        return (PARTIAL_HISTORY,) if self.commits or self.removed else ()

    def describe(self, view: CommitView | None) -> tuple[str, ...]:
        """Return notes about an incomplete or old index.

        The first one begins with how much was searched, if that was not everything. `view` contains
        the commits that were searched, or is None if there were none.
        """
        notes = tuple(filter(None, (self.rebuild, self.clone)))
        if self.commits:
            return (
                f"{_describe_count(0 if view is None else view.count)}: {self.commits}",
                *notes,
            )
        if self.removed:
            return (f"not all removed definitions were searched: {self.removed}", *notes)
        return notes


def explain_missing(search: CommitSearch, reason: str, removed: str) -> IndexGap:
    """Return why commits, or the definitions that they removed, are missing from an answer.

    `reason` and `removed` are the reasons why they are not indexed; "" if all of them are.
    """
    updates = search.updates
    return IndexGap(reason, removed, updates.describe_rebuild(), updates.describe_clone())


def _describe_count(count: int) -> str:
    if not count:
        return "no commits were searched"
    return f"only {count:,} {'commit was' if count == 1 else 'commits were'} searched"


@dataclass(frozen=True, slots=True)
class PreparedCommits:
    """The commits for a request, after new ones were indexed for a limited time."""

    search: CommitSearch
    view: CommitView | None  # None if no commit is indexed yet
    gap: IndexGap

    @property
    def degraded(self) -> tuple[str, ...]:
        """The degradations of the answer."""
        return self.gap.degraded

    @property
    def suggestions(self) -> tuple[str, ...]:
        """The suggestions of the answer."""
        return self.gap.describe(self.view)


def prepare_commits(
    open_commits: OpenCommits, advice: str = "", removed: RemovedDefinitions | None = None
) -> PreparedCommits:
    """Spend at most a limited time indexing new commits and the definitions that they removed.

    Raise QueryError, with `advice` at the end of its message, if there are no commits to search.
    """
    search = open_commits()
    if isinstance(search, str):
        raise QueryError(f"{search}{advice}")
    return prepare_indexes(search, removed)


def prepare_indexes(search: CommitSearch, removed: RemovedDefinitions | None) -> PreparedCommits:
    """Spend at most a limited time indexing new commits and the definitions that they removed."""
    started_s = time.perf_counter()
    if removed is not None:
        removed.updates.update_in_background()
    reason = search.prepare()
    left_s = max(0.0, search.wait_s - (time.perf_counter() - started_s))
    missing = "" if removed is None else removed.updates.prepare(left_s)
    view, reason = search.view_with_gap(reason)
    return PreparedCommits(search, view, explain_missing(search, reason, missing))


def lower_confidence(
    response: SearchResponse, search: CommitSearch, view: CommitView
) -> SearchResponse:
    """Lower the confidence of an answer that was found by words while commits were being indexed.

    The new answer is not confident if it begins with a commit and many commits are not indexed yet.
    One of these may be the right answer: the newest commits are indexed first, and most questions
    about the past are about older ones.
    """
    if not response.confident or not response.results or response.results[0].commit is None:
        return response
    known = search.updates.list_history("HEAD")
    if known is not None and view.count >= len(known) * _ENOUGH_COMMITS:
        return response
    notes = (f"{LOW_CONFIDENCE}{_MAY_BE_MISSING}", *response.suggestions)
    return replace(response, confident=False, suggestions=notes)


def check_limit(limit: int | None, default: int, maximum: int) -> int:
    """Return the number of results. Raise QueryError if the limit is out of range."""
    count = default if limit is None else limit
    if not 1 <= count <= maximum:
        raise QueryError(f"limit is {count}; give a number from 1 to {maximum}", parameter="limit")
    return count


def elapsed_ms(started_s: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter`."""
    return round((time.perf_counter() - started_s) * 1000, 3)
