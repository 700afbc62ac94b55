"""The `user_version` of a SQLite database, a number that the application chooses."""

from __future__ import annotations

import sqlite3


def read_user_version(connection: sqlite3.Connection) -> int:
    """Return the version of a database, or 0 if none has been written."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def write_user_version(connection: sqlite3.Connection, version: int) -> None:
    """Set the version of a database, as part of the current transaction."""
    connection.execute(f"PRAGMA user_version = {version:d}")
