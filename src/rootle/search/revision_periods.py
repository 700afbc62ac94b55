"""Select commits by `since:` and `until:` with a tag, branch or hash: by history, not by date.

A branch that was merged after v2.1 may contain commits that are older than v2.1. They are not in
the history of v2.1, so they were made since then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from typing import Final, Literal

from rootle.index.reader import FileState
from rootle.search.query.syntax import ParsedQuery
from rootle.serialization.dates import read_revision
from rootle.types import COMMIT_KIND, COMMIT_URI

PeriodKind = Literal["since", "until"]
_KINDS: Final[tuple[PeriodKind, ...]] = ("since", "until")
# Returns the hashes of the commits that are not in the history of a revision ("since"), or of those
# that are ("until"). Raises QueryError if git cannot list them.
ListPeriod = Callable[[PeriodKind, str], Set[str]]


def no_periods(kind: PeriodKind, revision: str) -> Set[str]:  # noqa: ARG001
    """Return no commits; for an index that contains none."""
    return frozenset()


def select_commits(
    parsed: ParsedQuery, states: Collection[FileState], list_period: ListPeriod
) -> Collection[FileState]:
    """Return the states without the commits that `since:` or `until:` with a revision excludes."""
    revisions = {kind: read_revision(getattr(parsed, kind)) for kind in _KINDS}
    if not any(revisions.values()) or not any(map(_is_commit, states)):
        return states
    periods = [list_period(kind, name) for kind, name in revisions.items() if name]
    return [
        state
        for state in states
        if not _is_commit(state)
        or all(state.path.removeprefix(COMMIT_URI) in period for period in periods)
    ]


def is_judged_by_history(state: FileState, date: str) -> bool:
    """Return whether `select_commits`, not a time, decides on a commit and a filter by date."""
    return _is_commit(state) and bool(read_revision(date))


def _is_commit(state: FileState) -> bool:
    return state.kind == COMMIT_KIND
