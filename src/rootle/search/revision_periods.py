"""Select commits and files by `since:` and `until:` with a tag, branch or hash.

The history counts, not the dates. A branch that was merged after v2.1 may contain commits that are
older than v2.1. They are not in the history of v2.1, so they count as made since v2.1, and the
files that they changed count as changed since v2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from typing import Final, Literal

from rootle.index.reader import FileState
from rootle.search.query.operators import ParsedQuery
from rootle.serialization.dates import read_revision
from rootle.types import COMMIT_KIND, COMMIT_URI, FILES

PeriodKind = Literal["since", "until"]
_KINDS: Final[tuple[PeriodKind, ...]] = ("since", "until")
# Returns the hashes of the commits that are not in the history of a revision ("since"), or of those
# that are ("until"). Raises QueryError if git cannot list them.
ListPeriod = Callable[[PeriodKind, str], Set[str]]
# Returns the paths of the files that differ between two revisions. Raises QueryError if git cannot
# list them.
ListChanged = Callable[[str, str], Set[str]]
_CHECKED_OUT: Final = "HEAD"


def no_periods(kind: PeriodKind, revision: str) -> Set[str]:  # noqa: ARG001
    """Return no commits. Used for an index that contains none."""
    return frozenset()


def select_by_history(
    parsed: ParsedQuery,
    states: Collection[FileState],
    list_period: ListPeriod,
    list_changed: ListChanged | None = None,
) -> Collection[FileState]:
    """Drop the states that a revision in `since:` or `until:` excludes.

    Only commits and, if there is `list_changed`, files of the folder are excluded. `since:A`
    selects the files that changed after A, `until:B` those that did not change after B, and both
    together those that changed between A and B.
    """
    revisions = {kind: read_revision(getattr(parsed, kind)) for kind in _KINDS}
    if not any(revisions.values()):
        return states
    if any(map(_is_commit, states)):
        periods = [list_period(kind, name) for kind, name in revisions.items() if name]
        return [
            state
            for state in states
            if not _is_commit(state)
            or all(state.path.removeprefix(COMMIT_URI) in period for period in periods)
        ]
    if list_changed is None:
        return states
    passes = _file_test(revisions["since"], revisions["until"], list_changed)
    return [state for state in states if state.source != FILES or passes(state)]


def _file_test(since: str, until: str, list_changed: ListChanged) -> Callable[[FileState], bool]:
    """Return a test for the files that changed in a period."""
    if since and until:
        between = list_changed(since, until)
        return lambda state: state.path in between
    later = list_changed(since or until, _CHECKED_OUT)
    return lambda state: (state.is_dirty or state.path in later) == bool(since)


def is_judged_by_history(state: FileState, date: str, *, with_files: bool) -> bool:
    """Return whether `select_by_history`, and not a time, decides if a state passes a filter.

    `date` is the value of the filter. Set `with_files` if `select_by_history` was called with
    `list_changed`.
    """
    is_file = with_files and state.source == FILES
    return (_is_commit(state) or is_file) and bool(read_revision(date))


def _is_commit(state: FileState) -> bool:
    return state.kind == COMMIT_KIND
