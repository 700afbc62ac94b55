"""Gathers what was heard until it is quiet, so that a storm of events becomes one batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rootle.indexing.watch.file_events import FileChanges

# More files than this are found sooner by a look at everything, and may be a sign of more: the
# queue of the system drops events when it is full, and watchfiles does not tell.
MANY: Final = 500
# However long the storm, so that a file that is written all the time does not hold up the others.
_LONGEST_S: Final = 10.0
# git at work holds a lock; one that it left behind when it was killed must not stop us for good.
_LONGEST_GIT_S: Final = 60.0
# A look that found nothing new is repeated after this many times its own cost at the earliest.
_REST: Final = 20
# So long after the last event everything is looked at once more: events may have been lost.
CONFIRM_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class EventBatch:
    """What is to be indexed in one go: these files, or whatever a look at everything finds."""

    paths: frozenset[str]
    is_whole: bool
    waiting: int  # files of it that are known to have changed
    since: float  # when the first of them was heard


class Debouncer:
    """What was heard and is not indexed yet. Times are seconds of the caller's clock."""

    def __init__(self, debounce_s: float) -> None:
        self._debounce_s = debounce_s
        self._paths: set[str] = set()
        self._is_whole = False
        self._is_git = False
        self._first = 0.0
        self._last = 0.0
        self._whole_not_before = 0.0
        self._confirm_at: float | None = None

    @property
    def is_empty(self) -> bool:
        return not (self._paths or self._is_whole or self._is_git)

    @property
    def waiting(self) -> int:
        """Files known to have changed; a change of unknown extent counts as one."""
        return len(self._paths) + self._is_whole

    @property
    def since(self) -> float:
        """When the first of them was heard."""
        return self._first

    def add(self, heard: FileChanges, now: float) -> None:
        if not (heard.paths or heard.is_whole or heard.is_git):
            return
        if self.is_empty:
            self._first = now
        self._last = now
        self._paths |= heard.paths
        self._is_whole = self._is_whole or heard.is_whole
        self._is_git = self._is_git or heard.is_git
        self._confirm_at = now + CONFIRM_S

    def add_everything(self, now: float) -> None:
        """Something may have been missed: look at everything, as soon as may be."""
        self.add(FileChanges(is_whole=True), now)
        self._whole_not_before = 0.0

    def put_back(self, batch: EventBatch) -> None:
        """What could not be indexed is to be tried again with the next batch."""
        self._first = batch.since if self.is_empty else min(batch.since, self._first)
        self._last = max(self._last, self._first)
        self._paths |= batch.paths
        self._is_whole = self._is_whole or batch.is_whole

    def due_at(self, *, git_is_busy: bool) -> float | None:
        """When there will be a batch to take if nothing more is heard; None for never."""
        if self.is_empty:
            return self._confirm_at
        longest = _LONGEST_GIT_S if git_is_busy else _LONGEST_S
        wait = longest if git_is_busy else self._debounce_s
        quiet = min(self._last + wait, self._first + longest)
        if self._paths:
            return quiet
        return max(quiet, self._whole_not_before)

    def take(self, now: float, *, all_of_it: bool = False) -> EventBatch:
        """The batch that is due; what may wait longer stays, unless `all_of_it` is asked for."""
        is_whole = self._is_whole or self._is_git or self.is_empty
        if len(self._paths) <= MANY and self._paths and not all_of_it:
            is_whole = is_whole and now >= self._whole_not_before
        is_whole = is_whole or len(self._paths) > MANY
        waiting = len(self._paths) + (self._is_whole and is_whole)
        batch = EventBatch(frozenset(self._paths), is_whole, waiting, self._first)
        self._paths = set()
        self._first = self._last = now
        if batch.is_whole:
            self._is_whole = self._is_git = False
            self._confirm_at = None
        return batch

    def looked(self, now: float, cost_s: float, *, found_nothing: bool) -> None:
        """Note what a look at everything cost, so that fruitless ones stay rare."""
        self._whole_not_before = now + _REST * cost_s if found_nothing else 0.0
