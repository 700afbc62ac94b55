"""The SQLite database of the embedded memory store: schema, opening and error messages."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock

from rootle.errors import MemoryStorageError
from rootle.serialization.timestamps import format_file_stamp
from rootle.storage.disk_space import is_disk_full
from rootle.storage.permissions import (
    PRIVATE_FILE,
    create_database_file,
    make_private_dir,
    set_file_modes,
)
from rootle.storage.transaction import write_transaction
from rootle.storage.user_version import read_user_version, write_user_version
from rootle.text.secret_masking import mask_secrets

SCHEMA_VERSION: Final = 4
_BUSY_TIMEOUT_S: Final = 10.0
_DIGEST_BYTES: Final = 16
_DATABASE_SUFFIXES: Final = ("", "-wal", "-shm")  # suffixes of the files of a database
_DAMAGE_CODES: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

# Observations and deletions are append-only and numbered, so that a reader can load only the rows
# after the last one that it has read. A deletion removes the text of a memory and keeps its id.
_SCHEMA: Final = """
CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    text TEXT NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (user_id, digest)
);
CREATE TABLE observations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    observed_at TEXT NOT NULL,
    count INTEGER NOT NULL
);
CREATE INDEX observations_by_memory ON observations (memory_id);
CREATE TABLE code_references (
    memory_id INTEGER NOT NULL,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    symbol TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE INDEX code_references_by_memory ON code_references (memory_id);
CREATE TABLE deletions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    deleted_at TEXT NOT NULL
);
"""
# Added in version 4 of the schema. Memories from earlier versions have no origin.
_ADD_ORIGINS: Final = """
ALTER TABLE memories ADD COLUMN is_personal INTEGER NOT NULL DEFAULT 0;
CREATE TABLE origins (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    root TEXT NOT NULL,
    UNIQUE (memory_id, root)
)
"""
# Version 1 of the schema had the same tables under other names.
_UPGRADE_FROM_1: Final = """
DROP INDEX tellings_of_memory;
DROP INDEX ties_of_memory;
ALTER TABLE tellings RENAME TO observations;
ALTER TABLE observations RENAME COLUMN told_at TO observed_at;
ALTER TABLE observations RENAME COLUMN times TO count;
ALTER TABLE ties RENAME TO code_references;
ALTER TABLE forgotten RENAME TO deletions;
ALTER TABLE deletions RENAME COLUMN forgotten_at TO deleted_at;
CREATE INDEX observations_by_memory ON observations (memory_id);
CREATE INDEX code_references_by_memory ON code_references (memory_id);
"""


def open_database(path: Path) -> sqlite3.Connection:
    """Return a connection to the database, which is created if it is missing.

    Raise MemoryStorageError if the database cannot be used. A damaged database is renamed.
    """
    with storage_errors(path):
        make_private_dir(path.parent)
        create_database_file(path, PRIVATE_FILE)
        set_file_modes(path.parent)
        connection = sqlite3.connect(
            path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            # Memories must survive a power failure, because they cannot be rebuilt from other data.
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            _prepare_schema(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare_schema(connection: sqlite3.Connection, path: Path) -> None:
    version = read_user_version(connection)
    if version > SCHEMA_VERSION:
        raise MemoryStorageError(
            f"the memories at {path} were written by a newer rootle (format {version}, this one "
            f"reads {SCHEMA_VERSION}); update rootle"
        )
    if version == SCHEMA_VERSION:
        return
    with write_transaction(connection):
        # Another process may have upgraded the schema while this one waited for the lock.
        version = read_user_version(connection)
        if version < SCHEMA_VERSION:
            statements = {0: _SCHEMA, 1: _UPGRADE_FROM_1}.get(version, "")
            for statement in f"{statements};{_ADD_ORIGINS}".split(";"):
                connection.execute(statement)
            _mask_memories(connection)
            write_user_version(connection, SCHEMA_VERSION)
    # The write-ahead log still contains the unmasked texts until it is truncated.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _mask_memories(connection: sqlite3.Connection) -> None:
    """Mask secrets in stored memories; an earlier version of rootle may have missed some."""
    for memory_id, text in connection.execute("SELECT id, text FROM memories").fetchall():
        masked = mask_secrets(text)
        if masked.count:
            # If the model is empty, the vector is computed again when the memory is loaded.
            connection.execute(
                "UPDATE OR REPLACE memories SET text = ?, digest = ?, model = '', vector = x'' "
                "WHERE id = ?",
                (masked.text, text_digest(masked.text), memory_id),
            )


def text_digest(text: str) -> bytes:
    """Return a digest that ignores white space and case."""
    normalized = " ".join(text.split()).casefold()
    return hashlib.blake2b(
        normalized.encode("utf-8", "replace"), digest_size=_DIGEST_BYTES
    ).digest()


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the file system to a MemoryStorageError with a remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise MemoryStorageError(_describe(error, code, path)) from error
    except OSError as error:
        raise MemoryStorageError(
            f"cannot use the memories at {path}: {error.strerror or error}; free disk space, or "
            "make the folder writable"
        ) from error


def _describe(error: sqlite3.DatabaseError, code: int, path: Path) -> str:
    if code in _DAMAGE_CODES:
        try:
            backup = _rename_damaged(path)
        except OSError as failure:
            return (
                f"cannot read the memories at {path} ({failure.strerror or failure}); the file is "
                "unchanged; check the disk and try again"
            )
        if backup is None:
            return (
                f"the memories at {path} could not be read ({error}), but the file is undamaged, "
                "or another process has replaced it; check the disk and try again"
            )
        return (
            f"the memories at {path} are damaged ({error}); the file was renamed to {backup}, and "
            "new memories are stored in a new file. `sqlite3 FILE .recover` may recover the "
            "content; `rootle memory import` restores an export"
        )
    is_lacking = code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
    if code == sqlite3.SQLITE_FULL or (is_lacking and is_disk_full(path.parent)):
        return f"the disk with the memories at {path} is full; free space"
    if code == sqlite3.SQLITE_BUSY:
        return f"another process keeps the memories at {path} locked; try again"
    if code == sqlite3.SQLITE_IOERR:
        return f"cannot use the memories at {path} ({error}); check the disk and try again"
    return (
        f"cannot use the memories at {path} ({error}); free disk space, or make the file writable"
    )


def _rename_damaged(path: Path) -> Path | None:
    """Rename a database if it is damaged; return its new path, or None if it is undamaged.

    Raise OSError if the database cannot be read: SQLite may report a failing disk as damage.
    """
    with FileLock(f"{path}.lock", mode=PRIVATE_FILE):
        if not path.exists() or _is_intact(path):
            return None
        stamp = format_file_stamp(time.time())
        backup = path.with_name(f"{path.name}.damaged-{stamp}")
        for suffix in _DATABASE_SUFFIXES:
            if os.path.exists(f"{path}{suffix}"):
                os.replace(f"{path}{suffix}", f"{backup}{suffix}")
        return backup


def _is_intact(path: Path) -> bool:
    """Return whether a database is undamaged. Raise OSError if it cannot be read.

    The check uses a copy that SQLite makes. Copying has three advantages. SQLite does not report a
    failing disk as damage, copies a consistent state even if other processes write, and keeps the
    locks of this process. If this process opened and closed the file itself, it would release those
    locks. When the last of the other processes then closes the database, it would delete the
    write-ahead log, so memories that this process adds afterward would be lost.
    """
    try:
        with (
            closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)) as database,
            closing(sqlite3.connect("")) as copy,  # a temporary file
        ):
            database.backup(copy, progress=_stop_if_busy)
            return bool(copy.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE_CODES:
            return False
        raise OSError(errno.EIO, str(error)) from error


def _stop_if_busy(status: int, *_: int) -> None:
    """Raise TimeoutError, an OSError, instead of waiting without limit for another process."""
    if status & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise TimeoutError(errno.ETIMEDOUT, "another process keeps the file locked")
