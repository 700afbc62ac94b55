"""The SQLite database of an index, its primary store: schema, opening, and error messages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from rootle.errors import IndexMissingError, IndexStorageError
from rootle.index.format_version import FORMAT_VERSION, needs_tables
from rootle.index.local.damaged_rows import DamagedRowError, add_checksum_function
from rootle.index.local.views.shared_database import attach_shared
from rootle.storage.disk_space import is_disk_full
from rootle.storage.permissions import create_database_file, file_mode
from rootle.storage.transaction import write_transaction
from rootle.storage.user_version import read_user_version, write_user_version

DATABASE_NAME: Final = "rootle.db"
_BUSY_TIMEOUT_S: Final = 30.0
_IMMUTABLE: Final = "mode=ro&immutable=1"

# Paths are bytes, because file names may be invalid UTF-8. Texts are in a separate table, so that a
# scan of the table `files` does not read them. `row_checksum` explains the checksums. The vector of
# a chunk has a separate checksum, because most queries do not read it.
_TABLES: Final = """
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum INTEGER AS (row_checksum(name, value)) STORED
) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL,
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
    generation INTEGER NOT NULL,
    author TEXT NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    ctime_ns INTEGER NOT NULL,
    masked INTEGER NOT NULL,
    checksum INTEGER AS (row_checksum(
        id, path, size, mtime_ns, seen_ns, digest, skip, language, encoding, chars, skipped_chars,
        committed_s, is_dirty, generation, author, source, kind, title, ctime_ns, masked
    )) STORED,
    UNIQUE (path, source)
);
CREATE TABLE commit_dates (
    repository BLOB NOT NULL,
    path BLOB NOT NULL,
    is_read INTEGER NOT NULL,
    seconds INTEGER,
    author TEXT NOT NULL,
    checksum INTEGER AS (row_checksum(path, is_read, seconds, author)) STORED,
    PRIMARY KEY (repository, path)
) WITHOUT ROWID;
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    body BLOB NOT NULL,
    checksum INTEGER AS (row_checksum(id, body)) STORED
);
CREATE TABLE sections (
    file_id INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    label TEXT NOT NULL,
    title TEXT NOT NULL,
    date_s INTEGER NOT NULL,
    checksum INTEGER AS (row_checksum(file_id, start_line, end_line, label, title, date_s)) STORED,
    PRIMARY KEY (file_id, start_line)
) WITHOUT ROWID;
CREATE INDEX sections_by_label_and_date ON sections (label, date_s);
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
    vector BLOB NOT NULL,
    checksum INTEGER AS (row_checksum(
        id, file_id, seq, start_line, end_line, start, end, scope, symbols
    )) STORED,
    vector_checksum INTEGER AS (row_checksum(id, file_id, key, vector)) STORED
);
CREATE INDEX chunks_of_file ON chunks (file_id, seq);
CREATE TABLE pending (
    chunk_id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    since_s REAL NOT NULL,
    failures INTEGER NOT NULL,
    retry_at_s REAL NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX pending_of_file ON pending (file_id, chunk_id);
CREATE TABLE removed (file_id INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE TABLE retired (
    key INTEGER PRIMARY KEY,
    vector BLOB NOT NULL,
    generation INTEGER NOT NULL,
    checksum INTEGER AS (row_checksum(key, vector)) STORED
);
"""


def open_database(folder: Path, *, create: bool, read_only: bool = False) -> sqlite3.Connection:
    """Open the database in `folder`. If `create` is true, create a missing database and its tables.

    Raises IndexMissingError if there is no database, or only one of an older format, and
    IndexStorageError if the database cannot be used.
    """
    path = folder / DATABASE_NAME
    # Path.exists raises if a parent folder has no search permission.
    if not os.path.exists(path) and not create:
        raise IndexMissingError(f"no index at {folder}; run `rootle index` to create one")
    with storage_errors(folder):
        if create:
            create_database_file(path, file_mode(folder))
        try:
            return _open(folder, create=create, read_only=read_only)
        except sqlite3.OperationalError:
            # A full disk has no room for the files by which writers and readers coordinate. The
            # database can be read without these files if it contains all that was written.
            if create or not is_disk_full(folder) or _has_content(f"{path}-wal"):
                raise
            return _open(folder, create=False, read_only=True, is_immutable=True)


def _open(
    folder: Path, *, create: bool, read_only: bool, is_immutable: bool = False
) -> sqlite3.Connection:
    path = folder / DATABASE_NAME
    mode = _IMMUTABLE if is_immutable else _mode(path, read_only=read_only, create=create)
    connection = sqlite3.connect(
        f"{path.as_uri()}?{mode}",
        uri=True,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _configure(connection, read_only)
        _prepare(connection, folder, create)
        shared_mode = partial(_mode, read_only=read_only, create=False)
        attach_shared(connection, folder, DATABASE_NAME, shared_mode)
    except BaseException:
        connection.close()
        raise
    return connection


def _has_content(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _mode(path: Path, *, read_only: bool, create: bool) -> str:
    if not read_only:
        # A reader must not create a database where a rebuild has just deleted one.
        return "mode=rwc" if create else "mode=rw"
    # In a read-only folder, SQLite needs the -wal and -shm files of a writer. Without them it can
    # open the database only as immutable.
    is_in_use = all(os.path.exists(f"{path}{ending}") for ending in ("-wal", "-shm"))
    return "mode=ro" if is_in_use else _IMMUTABLE


def _configure(connection: sqlite3.Connection, read_only: bool) -> None:
    add_checksum_function(connection)
    connection.execute("PRAGMA cell_size_check=ON")  # detects more damage at no measurable cost
    if not read_only:
        connection.execute("PRAGMA journal_mode=WAL")
        # A crash of the process loses no committed batch. After a power failure, the last batch may
        # be missing. It is then indexed again.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA journal_size_limit=67108864")
    connection.execute("PRAGMA cache_size=-32768")
    connection.execute("PRAGMA temp_store=MEMORY")


def _prepare(connection: sqlite3.Connection, folder: Path, create: bool) -> None:
    if not needs_tables(connection, folder, create=create):
        return
    with write_transaction(connection):
        # Another process may have created the tables while this one waited for the lock.
        if read_user_version(connection) < FORMAT_VERSION:
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            write_user_version(connection, FORMAT_VERSION)


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Convert errors of SQLite and the file system to IndexStorageError with a remedy."""
    try:
        yield
    # A damaged schema can contain text that is not UTF-8.
    except (sqlite3.DatabaseError, DamagedRowError, UnicodeDecodeError) as error:
        raise IndexStorageError(_explain(error, folder)) from error
    except OSError as error:
        raise IndexStorageError(
            f"cannot use the index at {folder}: {error.strerror or error}; "
            "free up space or choose another folder with --index-dir"
        ) from error


def _explain(error: Exception, folder: Path) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    lacks_space = code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
    if code == sqlite3.SQLITE_FULL or (lacks_space and is_disk_full(folder)):
        return f"the disk of the index at {folder} is full; free up space or use --index-dir"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return f"the index at {folder} cannot be written ({error}); choose another --index-dir"
    if code == sqlite3.SQLITE_BUSY:
        return f"another process has locked the index at {folder}; try again"
    if code == sqlite3.SQLITE_IOERR:
        return f"cannot use the index at {folder} ({error}); check the disk or use --index-dir"
    if code == sqlite3.SQLITE_CORRUPT:  # also reported if the disk cannot be read now
        return (
            f"the index at {folder} cannot be read, or is damaged ({error}); try again, and if it "
            "fails again, run `rootle index --rebuild`"
        )
    return f"the index at {folder} is damaged ({error}); run `rootle index --rebuild`"
