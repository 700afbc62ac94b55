"""The SQLite file that holds the truth: how it is opened, its tables, and what its failures mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rootle.errors import IndexMissingError, IndexStorageError

SCHEMA_VERSION: Final = 1
DATABASE_NAME: Final = "rootle.db"
_BUSY_TIMEOUT_S: Final = 30.0

# Paths are bytes, because a file name need not be UTF-8. Texts stand in a table of their own, so
# that a look over all files does not drag their contents through the page cache.
_TABLES: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    seen_ns INTEGER NOT NULL,
    digest BLOB,
    skip TEXT,
    language TEXT NOT NULL,
    encoding TEXT NOT NULL,
    chars INTEGER NOT NULL,
    skipped_chars INTEGER NOT NULL,
    committed_s INTEGER,
    is_dirty INTEGER NOT NULL,
    generation INTEGER NOT NULL
);
CREATE TABLE texts (file_id INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    symbols TEXT NOT NULL,
    scope TEXT NOT NULL,
    key INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX chunks_of_file ON chunks (file_id, seq);
CREATE TABLE removed (file_id INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE TABLE retired (
    key INTEGER PRIMARY KEY, vector BLOB NOT NULL, generation INTEGER NOT NULL
);
"""


def open_database(folder: Path, *, create: bool, read_only: bool = False) -> sqlite3.Connection:
    """A connection to the database in `folder`, its tables made where `create` allows.

    Raises IndexMissingError where there is none, IndexStorageError where it cannot be used.
    """
    path = folder / DATABASE_NAME
    if not path.exists() and not create:
        raise IndexMissingError(f"no index at {folder}; run `rootle index` to make one")
    with storage_errors(folder):
        connection = _connect(path, read_only)
        try:
            _prepare(connection, folder, create)
        except BaseException:
            connection.close()
            raise
    return connection


def _connect(path: Path, read_only: bool) -> sqlite3.Connection:
    # A database in a folder that cannot be written has no -shm file and can only be read as a
    # file that nobody changes.
    mode = "mode=ro&immutable=1" if read_only else "mode=rwc"
    connection = sqlite3.connect(
        f"{path.as_uri()}?{mode}",
        uri=True,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    if not read_only:
        connection.execute("PRAGMA journal_mode=WAL")
        # Safe against a crash of the program; after a power cut the last batch may be missing and
        # is simply made again.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA journal_size_limit=67108864")
    connection.execute("PRAGMA cache_size=-32768")
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def _prepare(connection: sqlite3.Connection, folder: Path, create: bool) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise IndexStorageError(
            f"the index at {folder} was written by a newer rootle (format {version}, this one "
            f"reads {SCHEMA_VERSION}); update rootle, or run `rootle index --rebuild`"
        )
    if version == SCHEMA_VERSION:
        return
    if not create:
        raise IndexMissingError(f"the index at {folder} is empty; run `rootle index` to make it")
    with write_transaction(connection):
        # Another process may have made the tables while this one waited for the lock.
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


@contextmanager
def write_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing: what runs inside is committed at its end and undone on any error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turns what SQLite and the file system raise into an IndexStorageError that tells the cure."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise IndexStorageError(_explain(error, folder)) from error
    except OSError as error:
        raise IndexStorageError(
            f"cannot use the index at {folder}: {error.strerror or error}; "
            "free space or choose another place with --index-dir"
        ) from error


def _explain(error: sqlite3.DatabaseError, folder: Path) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return f"the disk of the index at {folder} is full; free space or use --index-dir"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return f"the index at {folder} cannot be written ({error}); choose another --index-dir"
    if code == sqlite3.SQLITE_BUSY:
        return f"another process keeps the index at {folder} locked; try again"
    return f"the index at {folder} is damaged ({error}); run `rootle index --rebuild`"
