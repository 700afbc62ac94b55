"""Read long git histories in a background thread, or at once on request."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from rootle.errors import IndexStorageError, UnavailableError
from rootle.index.local.commit_dates import CommitDates, HistoryRecord
from rootle.index.local.content_dir import content_dir
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.writer_lock import writer_lock
from rootle.indexing.git_history.commit_date_update import is_read_at_once
from rootle.indexing.git_history.early_walk import EarlyWalk
from rootle.indexing.git_history.history_walk import HistoryWalk, open_walk, store_progress
from rootle.storage.transaction import write_transaction
from rootle.types import WarningCallback

LOCK_NAME: Final = "history.lock"
_LONG_HISTORY: Final = (
    "reading the git history for the dates of files; the rest of the index is complete"
)
# The progress is saved at this interval, so a process that is killed loses at most this much.
_SAVE_INTERVAL_S: Final = 5.0
_SAVE_TIMEOUT_S: Final = 10.0
# A process that ends soon, such as one search on the command line, reads for at least this time, so
# that repeated searches read the whole history eventually. git may need most of this time before
# its first output.
_MIN_S: Final = 0.5


class HistoryReader:
    """Reads the parts of git histories that an index still lacks.

    Thread-safe. Only one process reads at a time.
    """

    def __init__(self, root: Path, index_dir: Path, on_warning: WarningCallback) -> None:
        self._root = root
        self._index_dir = index_dir
        self._on_warning = on_warning
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._walk: HistoryWalk | None = None
        self._started_at = 0.0
        self._is_stopping = threading.Event()
        self._early: EarlyWalk | None = None

    def read_early(self) -> None:
        """Start reading a long history before the files are indexed; `read_all` uses the result."""
        if not is_read_at_once(str(self._root)):
            self._early = EarlyWalk(self._root)

    def stop_early(self) -> None:
        """Stop what `read_early` has started."""
        early, self._early = self._early, None
        if early is not None:
            early.stop()

    def start(self) -> None:
        """Start reading in the background, unless the background thread is already running."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._started_at = monotonic()
                self._is_stopping.clear()
                self._thread = threading.Thread(
                    target=self._run_in_background, name="rootle-history", daemon=True
                )
                self._thread.start()

    def read_all(self) -> None:
        """Read to the end. If another process is reading, wait until it has finished."""
        warning = threading.Timer(_SAVE_INTERVAL_S, self._on_warning, (_LONG_HISTORY,))
        warning.daemon = True
        warning.start()
        try:
            self._read(threading.Event(), lock_timeout_s=-1)
        finally:
            warning.cancel()
            self.stop_early()

    def stop(self) -> None:
        """Stop the thread once it has run for half a second; its progress is stored."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.join(max(0.0, self._started_at + _MIN_S - monotonic()))
        self._is_stopping.set()
        if (walk := self._walk) is not None:
            walk.stop()
        thread.join()

    def _run_in_background(self) -> None:
        with suppress(UnavailableError):  # another process is reading
            try:
                self._read(self._is_stopping, lock_timeout_s=0)
            except IndexStorageError as error:
                self._on_warning(f"the commit dates of some files are unknown: {error}")

    def _read(self, is_stopping: threading.Event, *, lock_timeout_s: float) -> None:
        save_timeout_s = _SAVE_TIMEOUT_S if lock_timeout_s >= 0 else -1
        with writer_lock(self._index_dir, lock_timeout_s, _ignore_wait, LOCK_NAME):
            while not is_stopping.is_set() and (part := self._open_next()) is not None:
                if not part.read(is_stopping, save_timeout_s):
                    return  # git was stopped

    def _open_next(self) -> _RepositoryWalk | None:
        """Return the history to read next, or None if all have been read."""
        with self._open_database() as connection:
            dates = CommitDates(connection)
            for repository, record in dates.records().items():
                if record.is_walking:
                    self._walk = self._take_early(repository, record, dates)
                    self._walk = self._walk or open_walk(self._root, repository, dates)
                    return _RepositoryWalk(self._index_dir, repository, record, self._walk)
        return None

    def _take_early(
        self, repository: str, record: HistoryRecord, dates: CommitDates
    ) -> HistoryWalk | None:
        early, self._early = self._early, None
        if early is None:
            return None
        return early.take(record, dates.unread(repository), _SAVE_INTERVAL_S)

    @contextmanager
    def _open_database(self) -> Iterator[sqlite3.Connection]:
        with (
            closing(open_database(content_dir(self._index_dir), create=False)) as connection,
            storage_errors(self._index_dir),
        ):
            yield connection


@dataclass(slots=True)
class _RepositoryWalk:
    """The history walk of one repository, and the record from which it continues."""

    index_dir: Path
    repository: str
    record: HistoryRecord
    walk: HistoryWalk

    def read(self, is_stopping: threading.Event, save_timeout_s: float) -> bool:
        """Read to the end, until `is_stopping` is set, or until another walk is recorded.

        Return False if the walk is unfinished and has not advanced.
        """
        saved_at = monotonic()
        is_current = True
        position = self.walk.position

        def may_go_on() -> bool:
            nonlocal saved_at, is_current
            if monotonic() - saved_at >= _SAVE_INTERVAL_S:
                is_current, saved_at = self._save(save_timeout_s), monotonic()
            return is_current and not is_stopping.is_set()

        self.walk.run(may_go_on)
        if not is_current:
            return True
        self._save(save_timeout_s)
        return not self.record.is_walking or self.walk.position > position

    def _save(self, timeout_s: float) -> bool:
        with (
            writer_lock(self.index_dir, timeout_s, _ignore_wait),
            closing(open_database(content_dir(self.index_dir), create=False)) as connection,
            storage_errors(self.index_dir),
            write_transaction(connection),
        ):
            progress = self.walk.take_progress()
            is_stored = store_progress(connection, self.repository, self.record, progress)
        self.record = progress.record
        return is_stored


def _ignore_wait() -> None:
    """Do nothing: no user waits for this."""
