"""Open snapshots of an index, and provide the newest one."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Final

from rootle.errors import IndexMissingError, IndexStorageError
from rootle.index.local.content_dir import content_dir
from rootle.index.local.database import (
    DATABASE_NAME,
    open_database,
    storage_errors,
)
from rootle.index.local.derived_indexes import DENSE_FOLDER, SPARSE_FOLDER
from rootle.index.local.snapshot import Snapshot
from rootle.storage.change_time import read_modification_time_ns
from rootle.storage.disk_space import is_disk_full

# The number of attempts to open an index. A writer commits the database first and the derived
# indexes right after it. A reader that opens them in between must retry.
_TRIES: Final = 40
_PAUSE_S: Final = 0.025
_DAMAGED_TRIES: Final = 5


class IncompleteIndexError(IndexStorageError):
    """Raised if the derived indexes are behind the database: a writer is active or was killed."""


class SnapshotSource:
    """Provides the newest consistent snapshot, and reopens it only after a write."""

    def __init__(self, folder: Path, *, read_only: bool = False, unfinished: bool = False) -> None:
        self._folder = folder
        self._read_only = read_only
        self._unfinished = unfinished
        self._snapshot: Snapshot | None = None
        self._seen: tuple[tuple[Path, int], int] | None = None
        self._probe: sqlite3.Connection | None = None
        self._probed: tuple[Path, int] | None = None
        self._lock = threading.Lock()

    def current(self) -> Snapshot:
        """Return the newest snapshot. Raises the errors of `open_snapshot`.

        While a writer is active, the snapshot that is already open is returned. If a newer one
        cannot be read for any other reason, the error is raised, because answers from the old one
        would be outdated without a warning.
        """
        with self._lock:
            # Read the state before opening, so that the next call notices a write in between.
            state = self._state()
            if self._snapshot is None:
                self._snapshot = self._open(None, _TRIES)
            elif state != self._seen:
                same_file = self._seen is not None and state[0] == self._seen[0]
                try:
                    self._snapshot = self._open(self._snapshot if same_file else None, 1)
                except IncompleteIndexError:
                    return self._snapshot
            self._seen = state
            return self._snapshot

    def _open(self, earlier: Snapshot | None, tries: int) -> Snapshot:
        return open_snapshot(
            self._folder,
            read_only=self._is_read_only(),
            unfinished=self._unfinished,
            earlier=earlier,
            tries=tries,
        )

    def close(self) -> None:
        """Release the snapshot. Threads that still read from it keep it open."""
        with self._lock:
            self._close_probe()
            self._snapshot = None

    def _state(self) -> tuple[tuple[Path, int], int]:
        """Return the identity of the database file, and its version, which every commit changes."""
        content = content_dir(self._folder)
        path = content / DATABASE_NAME
        try:
            database = content, os.stat(path).st_ino
        except OSError:  # deleted, or not accessible
            database = content, 0
        if self._is_read_only() or is_disk_full(content):
            # A database that was opened as immutable does not report changes.
            self._close_probe()
            return database, hash(
                (read_modification_time_ns(path), read_modification_time_ns(f"{path}-wal"))
            )
        if self._probe is None or database != self._probed:
            self._close_probe()
            self._probe = open_database(content, create=False)
            self._probed = database
        with storage_errors(self._folder):
            return database, int(self._probe.execute("PRAGMA data_version").fetchone()[0])

    def _is_read_only(self) -> bool:
        return self._read_only or is_read_only(self._folder)

    def _close_probe(self) -> None:
        if self._probe is not None:
            self._probe.close()
            self._probe = None


def open_snapshot(
    folder: Path,
    *,
    read_only: bool = False,
    unfinished: bool = False,
    earlier: Snapshot | None = None,
    tries: int = _TRIES,
) -> Snapshot:
    """Return a snapshot of the newest consistent generation.

    Unchanged parts are shared with `earlier`. With `unfinished`, an index may be opened during its
    initial indexing run. Raises IndexMissingError if there is no index, and IndexStorageError if
    the index is damaged or cannot be read. Raises IncompleteIndexError if the derived indexes
    remain behind the database. After a crash, this is the case until the next write.
    """
    failures = waits = 0
    tries = 1 if read_only else tries
    while waits < tries:
        if failures or waits:
            time.sleep(_PAUSE_S)
        content = content_dir(folder)
        try:
            snapshot = _try_open(content, read_only, unfinished, earlier)
        except IndexStorageError as error:
            if content_dir(folder) != content:  # a rebuild has replaced it meanwhile
                waits += 1
                continue
            # A file may have been replaced between two reads, so try again. Only damage is
            # permanent.
            failures += 1
            is_missing = isinstance(error, IndexMissingError) or _derived_are_missing(content)
            if is_missing or failures >= _DAMAGED_TRIES:
                raise
            continue
        if snapshot is not None:
            return snapshot
        waits += 1
    raise IncompleteIndexError(
        f"the index at {folder} is not complete: another process is writing it, or was "
        "interrupted; run `rootle index` to complete it"
    )


def _try_open(
    folder: Path, read_only: bool, unfinished: bool, earlier: Snapshot | None
) -> Snapshot | None:
    connection = open_database(folder, create=False, read_only=read_only)
    try:
        snapshot = Snapshot(folder, connection, earlier)
    except BaseException:
        connection.close()
        raise
    if snapshot.is_consistent or (unfinished and snapshot.use_derived_generation()):
        return snapshot
    snapshot.close()
    return None


def _derived_are_missing(folder: Path) -> bool:
    return not any(os.path.exists(folder / part) for part in (SPARSE_FOLDER, DENSE_FOLDER))


def is_read_only(folder: Path) -> bool:
    """Return whether a folder exists and cannot be written."""
    return not os.access(folder, os.W_OK) and os.path.exists(folder)
