"""Read the history of one repository from a recorded position, and store the dates of its files."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rootle.index.local.commit_dates import CommitDate, CommitDates, HistoryRecord
from rootle.index.local.manifest import Manifest
from rootle.sources.git.history import Commit, CommitLog, find_shallow_commits, open_log
from rootle.types import FILES

NOT_IN_HISTORY: Final = CommitDate(True, None, "")


@dataclass(frozen=True, slots=True)
class WalkProgress:
    """The dates read since the last call of `take_progress`, and the updated record."""

    dates: dict[str, CommitDate]  # keyed by the path relative to the repository
    record: HistoryRecord


class HistoryWalk:
    """Reads commits, newest first, until every committed file has a date or the history ends."""

    def __init__(self, folder: str, record: HistoryRecord, unread: set[str]) -> None:
        """`unread` contains the paths of the files without a date, relative to `folder`."""
        self._folder = folder
        self._record = record
        self._position = record.walk_position
        self._unread = unread
        self._found: dict[str, CommitDate] = {}
        self._shallow = find_shallow_commits(folder)
        self._is_cut_short = False
        self._log: CommitLog | None = None
        self._is_stopping = threading.Event()

    @property
    def position(self) -> int:
        """The number of commits that this walk and earlier ones have read."""
        return self._position

    def run(self, may_go_on: Callable[[], bool]) -> None:
        """Read to the end. Call `may_go_on` after each commit, and stop if it returns False."""
        if not self._record.is_walking:
            return None
        if not self._unread:
            return self._end()
        with open_log(self._folder, self._record.walk_head, skip=self._position) as log:
            self._log = log
            if self._is_stopping.is_set():
                return None
            for commit in log:
                self._add(commit)
                if not self._unread:
                    return self._end()
                if not may_go_on():
                    return None
            if log.is_complete or log.has_failed:
                self._is_cut_short |= log.has_failed
                self._end()
        return None

    def stop(self) -> None:
        """End `run` soon, without waiting for git. Another thread may call this."""
        self._is_stopping.set()
        self.interrupt()

    def interrupt(self) -> None:
        """End a call of `run` that waits for git; the next call continues.

        Another thread may call this.
        """
        if self._log is not None:
            self._log.stop()

    def take_progress(self) -> WalkProgress:
        """Return the progress since the last call."""
        found, self._found = self._found, {}
        self._record = replace(self._record, walk_position=self._position)
        return WalkProgress(found, self._record)

    def _add(self, commit: Commit) -> None:
        # The oldest commits of a shallow clone seem to add all files of their trees.
        is_cut_off = bool(self._shallow) and commit.sha in self._shallow
        self._is_cut_short |= is_cut_off
        if dated := self._unread.intersection(commit.paths):
            date = NOT_IN_HISTORY if is_cut_off else CommitDate(True, *_read_facts(commit))
            self._found.update(dict.fromkeys(dated, date))
            self._unread -= dated
        self._position += 1

    def _end(self) -> None:
        record = self._record
        is_cut_short = record.is_cut_short or self._is_cut_short
        self._position = 0
        self._record = replace(record, walk_head="", walk_position=0, is_cut_short=is_cut_short)


def _read_facts(commit: Commit) -> tuple[int, str]:
    facts = commit.facts
    return facts.seconds, facts.author


def open_walk(root: Path, repository: str, dates: CommitDates) -> HistoryWalk:
    """Return a walk that continues from the recorded position of the last one."""
    folder = os.path.join(root, repository)
    return HistoryWalk(folder, dates.records()[repository], dates.unread(repository))


def store_progress(
    connection: sqlite3.Connection,
    repository: str,
    expected: HistoryRecord,
    progress: WalkProgress,
) -> bool:
    """Store the progress of a walk that started at `expected`; the caller opens the transaction.

    Return False, without storing anything, if another walk of this repository was recorded
    meanwhile.
    """
    dates, manifest = CommitDates(connection), Manifest(connection)
    records = dates.records()
    current = records.get(repository)
    if current is None or _read_walk(current) != _read_walk(expected):
        return False
    dates.put(repository, progress.dates, overwrite=False)
    after = progress.record
    if not after.is_walking:
        dates.end(repository)
    # The head may have moved meanwhile; its new commits are already read.
    records[repository] = replace(after, head=current.head)
    dates.set_records(records)
    dates.increment_version()
    _write_dates(manifest, repository, progress.dates)
    return True


def _read_walk(record: HistoryRecord) -> tuple[str, int, str]:
    return record.walk_head, record.walk_position, record.facts


def _write_dates(manifest: Manifest, repository: str, dates: dict[str, CommitDate]) -> None:
    """Store the dates in the states of the indexed files."""
    by_path = {repository + path: date for path, date in dates.items()}
    manifest.set_history(
        (by_path[state.path].seconds, by_path[state.path].author, state.is_dirty, state.id)
        for state in manifest.files_at(by_path)
        if state.source == FILES and state.committed_s is None
    )
