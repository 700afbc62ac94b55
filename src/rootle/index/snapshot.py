"""One generation of an index, held open: whatever a writer does, it stays as it was."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError
from rootle.index.database import DATABASE_NAME, open_database, storage_errors
from rootle.index.derived import DENSE_FOLDER, SPARSE_FOLDER
from rootle.index.docstore import ChunkRow, DocStore
from rootle.index.embedded_dense import EmbeddedDense
from rootle.index.embedded_sparse import EmbeddedSparse
from rootle.index.manifest import FileState, Manifest

# A writer commits the truth first and the derived indexes right after it.
_TRIES: Final = 40
_PAUSE_S: Final = 0.025
# Texts of files that were shown stay at hand: the next question often shows them again.
_CACHED_CHARS: Final = 16_000_000
_CACHED_CHUNKS: Final = 20_000


class Snapshot:
    """The truth and both derived indexes at the same generation. Safe to use from many threads."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._connection = connection
        self._lock = threading.Lock()
        with storage_errors(folder):
            # The transaction stays open: it keeps these rows as they are now for this reader.
            connection.execute("BEGIN")
            self._manifest = Manifest(connection)
            self.generation = self._manifest.generation()
        self._documents = DocStore(connection)
        self.sparse = EmbeddedSparse(folder / SPARSE_FOLDER)
        self.dense = EmbeddedDense(folder / DENSE_FOLDER)
        self._files: dict[int, FileState] = {}
        self._chunks: dict[int, ChunkRow] = {}
        self._texts: dict[int, str] = {}
        self._text_chars = 0

    @property
    def is_whole(self) -> bool:
        return self.generation == self.sparse.generation == self.dense.generation

    def value(self, name: str) -> str:
        """A value of the manifest; empty where it is not set."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.value(name) or ""

    def chunk_totals(self) -> Mapping[str, int]:
        """How many chunks there are, and how many wait for their embedding."""
        with self._lock, storage_errors(self.folder):
            return self._documents.totals()

    def files(self, ids: Iterable[int]) -> dict[int, FileState]:
        """The states of files by their ids; ids that are unknown are left out."""
        wanted = list(ids)
        missing = [file_id for file_id in wanted if file_id not in self._files]
        if missing:
            with self._lock, storage_errors(self.folder):
                self._files.update(self._manifest.files_by_id(missing))
        return {at: self._files[at] for at in wanted if at in self._files}

    def all_files(self) -> list[FileState]:
        with self._lock, storage_errors(self.folder):
            return self._manifest.files()

    def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Chunks by their ids; ids that are unknown are left out."""
        known = self._chunks
        with self._lock, storage_errors(self.folder):
            missing = [at for at in ids if at not in known]
            if len(known) + len(missing) > _CACHED_CHUNKS:
                known.clear()
                missing = list(ids)
            known.update(self._documents.chunks(missing))
            return {at: known[at] for at in ids if at in known}

    def chunks_of(self, file_id: int) -> Sequence[ChunkRow]:
        with self._lock, storage_errors(self.folder):
            return self._documents.chunks_of(file_id)

    def text(self, file_id: int) -> str:
        """The text of a file as it was indexed."""
        with self._lock, storage_errors(self.folder):
            text = self._texts.pop(file_id, None)
            if text is None:
                text = self._documents.text(file_id)
                self._text_chars += len(text)
            self._texts[file_id] = text  # at the end: what was asked for last goes last
            while self._text_chars > _CACHED_CHARS and len(self._texts) > 1:
                self._text_chars -= len(self._texts.pop(next(iter(self._texts))))
            return text

    def close(self) -> None:
        self._connection.close()


def open_snapshot(folder: Path, *, read_only: bool = False) -> Snapshot:
    """The newest whole generation.

    Raises IndexMissingError without an index and IndexStorageError where the derived indexes stay
    behind the truth, as they do after a crash until the next writer has caught up.
    """
    for _ in range(1 if read_only else _TRIES):
        snapshot = _try_open(folder, read_only)
        if snapshot is not None:
            return snapshot
        time.sleep(_PAUSE_S)
    raise IndexStorageError(
        f"the index at {folder} is not complete: another process is writing it, or was stopped "
        "while it did; run `rootle index` to complete it"
    )


def _try_open(folder: Path, read_only: bool) -> Snapshot | None:
    connection = open_database(folder, create=False, read_only=read_only)
    try:
        snapshot = Snapshot(folder, connection)
    except IndexStorageError:
        connection.close()
        if _derived_are_missing(folder):
            raise
        return None
    except BaseException:
        connection.close()
        raise
    if snapshot.is_whole:
        return snapshot
    snapshot.close()
    return None


def _derived_are_missing(folder: Path) -> bool:
    return not (folder / SPARSE_FOLDER).exists() and not (folder / DENSE_FOLDER).exists()


class SnapshotSource:
    """The newest whole snapshot, reopened only when the truth has moved on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / DATABASE_NAME
        self._snapshot: Snapshot | None = None
        self._probe: sqlite3.Connection | None = None
        self._inode = -1
        self._lock = threading.Lock()

    def current(self) -> Snapshot:
        """Raises IndexMissingError and IndexStorageError as `open_snapshot` does.

        While a writer is at work, the snapshot that is open already goes on serving.
        """
        with self._lock:
            if self._snapshot is None:
                return self._reopened()
            if self._has_moved_on():
                try:
                    return self._reopened()
                except IndexStorageError:
                    if not self._path.exists():
                        raise
            return self._snapshot

    def close(self) -> None:
        with self._lock:
            for connection in (self._probe, self._snapshot):
                if connection is not None:
                    connection.close()
            self._probe = self._snapshot = None

    def _reopened(self) -> Snapshot:
        snapshot = open_snapshot(self._folder, read_only=is_read_only(self._folder))
        # The old one is left to those who are still reading from it; its last user closes it.
        self._snapshot = snapshot
        if self._probe is not None:
            self._probe.close()
            self._probe = None
        return snapshot

    def _has_moved_on(self) -> bool:
        # A rebuild puts another file in its place: the old one would never tell of any change.
        inode = os.stat(self._path).st_ino if self._path.exists() else 0
        if self._probe is None or inode != self._inode:
            self._inode = inode
            if self._probe is not None:
                self._probe.close()
                self._probe = None
                return True
            read_only = is_read_only(self._folder)
            self._probe = open_database(self._folder, create=False, read_only=read_only)
        with storage_errors(self._folder):
            generation = Manifest(self._probe).generation()
        return self._snapshot is None or generation != self._snapshot.generation


def is_read_only(folder: Path) -> bool:
    return folder.exists() and not os.access(folder, os.W_OK)
