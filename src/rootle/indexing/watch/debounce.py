"""Debounce file changes: a burst of events becomes one batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rootle.indexing.watch.event_interpretation import FileChanges

# For more files than this, a rescan is faster. Many events may also mean that others were lost: the
# system drops events when its queue is full, and watchfiles does not report this.
MAX_PATHS: Final = 500
# The longest delay of a batch, so that a file that is written constantly does not delay the other
# files.
_LONGEST_DELAY_S: Final = 10.0
# The longest delay of a batch while git holds a lock. If a killed git process leaves its lock
# behind, updates must not be blocked forever.
_LONGEST_GIT_DELAY_S: Final = 60.0
# After a rescan that found nothing, the next one waits at least this multiple of its duration.
_RESCAN_INTERVAL_FACTOR: Final = 20
# Some changes cause no event, such as writes through a memory map, and events can be lost. A rescan
# at this interval finds them. The factor limits the time that these rescans take in large folders.
PERIODIC_RESCAN_S: Final = 300.0
PERIODIC_RESCAN_FACTOR: Final = 200


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes to index together: the given files, or the result of a rescan."""

    paths: frozenset[str]
    is_rescan: bool
    waiting: int  # the number of files in the batch that are known to have changed
    since: float  # when the first change was reported


class Debouncer:
    """Collects changes until they are due to be indexed.

    All times are readings of one clock, in seconds. The caller chooses the clock.
    """

    def __init__(self, debounce_s: float) -> None:
        self._debounce_s = debounce_s
        self._paths: set[str] = set()
        self._needs_rescan = False
        self._touches_git = False
        self._first_at = 0.0
        self._last_at = 0.0
        self._rescan_not_before = 0.0
        self._next_rescan_at: float | None = None  # None before the first rescan

    @property
    def is_empty(self) -> bool:
        return not (self._paths or self._needs_rescan or self._touches_git)

    @property
    def waiting(self) -> int:
        """The number of files that are known to have changed; a needed rescan counts as one."""
        return len(self._paths) + self._needs_rescan

    @property
    def since(self) -> float:
        """The time of the first change."""
        return self._first_at

    def add(self, changes: FileChanges, now: float) -> None:
        if not (changes.paths or changes.needs_rescan or changes.touches_git):
            return
        if self.is_empty:
            self._first_at = now
        self._last_at = now
        self._paths |= changes.paths
        self._needs_rescan = self._needs_rescan or changes.needs_rescan
        self._touches_git = self._touches_git or changes.touches_git

    def request_rescan(self, now: float) -> None:
        """Request a rescan as soon as possible, since changes may have been missed."""
        self.add(FileChanges(needs_rescan=True), now)
        self._rescan_not_before = 0.0

    def put_back(self, batch: ChangeBatch) -> None:
        """Merge a batch that could not be indexed into the next one."""
        self._first_at = batch.since if self.is_empty else min(batch.since, self._first_at)
        self._last_at = max(self._last_at, self._first_at)
        self._paths |= batch.paths
        self._needs_rescan = self._needs_rescan or batch.is_rescan

    def due_at(self, *, git_is_busy: bool) -> float | None:
        """Return when the next batch is due if no more changes arrive.

        Without changes, this is the time of the next periodic rescan; None before the first rescan.
        """
        if self.is_empty:
            return self._next_rescan_at
        longest_s = _LONGEST_GIT_DELAY_S if git_is_busy else _LONGEST_DELAY_S
        delay_s = longest_s if git_is_busy else self._debounce_s
        due = min(self._last_at + delay_s, self._first_at + longest_s)
        return due if self._paths else max(due, self._rescan_not_before)

    def take(self, now: float, *, take_all: bool = False) -> ChangeBatch:
        """Remove and return the batch that is due.

        A rescan that may wait longer is left out, unless `take_all` is set.
        """
        is_rescan = self._needs_rescan or self._touches_git or self._is_rescan_due(now)
        if len(self._paths) <= MAX_PATHS and self._paths and not take_all:
            is_rescan = is_rescan and now >= self._rescan_not_before
        is_rescan = is_rescan or len(self._paths) > MAX_PATHS
        waiting = len(self._paths) + (self._needs_rescan and is_rescan)
        batch = ChangeBatch(frozenset(self._paths), is_rescan, waiting, self._first_at)
        self._paths = set()
        self._first_at = self._last_at = now
        if batch.is_rescan:
            self._needs_rescan = self._touches_git = False
        return batch

    def _is_rescan_due(self, now: float) -> bool:
        return self._next_rescan_at is not None and now >= self._next_rescan_at

    def record_rescan(self, now: float, duration_s: float, *, found_changes: bool) -> None:
        """Record a rescan that ended now, so that rescans without changes remain rare."""
        not_before = now + _RESCAN_INTERVAL_FACTOR * duration_s
        self._rescan_not_before = 0.0 if found_changes else not_before
        self._next_rescan_at = now + max(PERIODIC_RESCAN_S, PERIODIC_RESCAN_FACTOR * duration_s)
