"""Decide whether an index is opened, rebuilt or refused, depending on its format version.

The version is the `user_version` of the SQLite database. An index with the current version is
opened. An index with an older version is not converted: a writer deletes and rebuilds it, and a
reader asks the user to rebuild it. An index with a newer version is refused, because it requires a
newer version of rootle.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from rootle.errors import IndexMissingError, IndexStorageError
from rootle.index.local.content_dir import DATABASE_FILES, is_empty
from rootle.storage.user_version import read_user_version

FORMAT_VERSION: Final = 10


def needs_tables(connection: sqlite3.Connection, folder: Path, *, create: bool) -> bool:
    """Return whether the caller must create the tables of the database in `folder`.

    Raise IndexStorageError if a newer version of rootle has written the database. Raise
    IndexMissingError if it is empty or of an older version, and `create` is False.
    """
    version = read_user_version(connection)
    if version > FORMAT_VERSION:
        raise IndexStorageError(
            f"the index at {folder} was written by a newer version of rootle "
            f"(format {version}, this one reads {FORMAT_VERSION}); update rootle, "
            "or run `rootle index --rebuild`"
        )
    if version < FORMAT_VERSION and not create:
        raise IndexMissingError(
            f"the index at {folder} is empty or from an older version; "
            "run `rootle index` to build it"
        )
    return version < FORMAT_VERSION


def must_be_deleted(content: Path) -> bool:
    """Return whether a writer must delete the content of an index and build it again.

    This is necessary if the content has an older format, because it cannot be read, and may contain
    unmasked secrets. If the database is missing, the other files are useless.
    """
    return is_empty(content) or _has_old_format(content)


def _has_old_format(content: Path) -> bool:
    path = content / DATABASE_FILES[0]
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            version = read_user_version(connection)
    except sqlite3.DatabaseError:
        return False  # opening it reports the problem
    # In version 0, another process has just created the file.
    return 0 < version < FORMAT_VERSION
