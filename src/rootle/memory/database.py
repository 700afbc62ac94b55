"""The SQLite file that holds the memories: its tables, how it is opened, what its failures mean."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from filelock import FileLock

from rootle.errors import MemoryStorageError
from rootle.storage.transaction import write_transaction

SCHEMA_VERSION: Final = 1
DATABASE_NAME: Final = "memories.db"
_BUSY_TIMEOUT_S: Final = 10.0
_OF_DATABASE: Final = ("", "-wal", "-shm")  # endings of the files that are one database
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

# Rows are only ever added, so that whoever has read up to a number needs only those after it.
# A memory that a person forgets is the one exception: its text is wiped, its number remains.
_TABLES: Final = """
CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    text TEXT NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (user_id, digest)
);
CREATE TABLE tellings (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    told_at TEXT NOT NULL,
    times INTEGER NOT NULL
);
CREATE INDEX tellings_of_memory ON tellings (memory_id);
CREATE TABLE ties (
    memory_id INTEGER NOT NULL,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    symbol TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE INDEX ties_of_memory ON ties (memory_id);
CREATE TABLE forgotten (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    forgotten_at TEXT NOT NULL
);
"""


def open_database(path: Path) -> sqlite3.Connection:
    """A connection to the database, made where there is none.

    Raises MemoryStorageError; one that is damaged is put aside first.
    """
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Made beforehand, because SQLite would let everybody read it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(
            path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            # What was remembered survives a power cut; there is nowhere to make it again from.
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise MemoryStorageError(
            f"the memories at {path} were written by a newer rootle (format {version}, this one "
            f"reads {SCHEMA_VERSION}); update rootle"
        )
    if version == SCHEMA_VERSION:
        return
    with write_transaction(connection):
        # Another process may have made the tables while this one waited for the lock.
        if _version(connection) < SCHEMA_VERSION:
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turns what SQLite and the file system raise into a MemoryStorageError that tells the cure."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise MemoryStorageError(_explained(error, code, path)) from error
    except OSError as error:
        raise MemoryStorageError(
            f"cannot use the memories at {path}: {error.strerror or error}; free space, or give "
            "yourself the right to write there"
        ) from error


def _explained(error: sqlite3.DatabaseError, code: int, path: Path) -> str:
    if code in _DAMAGE:
        aside = _put_aside(path)
        where = f"put aside as {aside}" if aside else "put aside already"
        return (
            f"the memories at {path} are damaged ({error}); the file was {where}, and new ones go "
            f"into an empty one. `sqlite3 FILE .recover` may save what is in it, "
            "`rootle memory import` takes an export back"
        )
    if code == sqlite3.SQLITE_FULL:
        return f"the disk of the memories at {path} is full; free space"
    if code == sqlite3.SQLITE_BUSY:
        return f"another process keeps the memories at {path} locked; try again"
    return f"cannot use the memories at {path} ({error}); free space, or allow writing there"


def _put_aside(path: Path) -> Path | None:
    """Rename a damaged database; None where somebody else has done so."""
    with FileLock(f"{path}.lock"):
        if _is_whole(path):
            return None
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        aside = path.with_name(f"{path.name}.damaged-{stamp}")
        for ending in _OF_DATABASE:
            if os.path.exists(f"{path}{ending}"):
                os.replace(f"{path}{ending}", f"{aside}{ending}")
        return aside


def _is_whole(path: Path) -> bool:
    if not path.exists():
        return True
    try:
        connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)
        try:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return False
