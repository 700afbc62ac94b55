"""Read the texts and chunks of a view from the database of the shared index.

A view has its own database, which lists its files. Its tables of texts, sections and chunks are
empty: temporary SQL views replace them, so that all statements work for both kinds of index.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rootle.errors import IndexMissingError

# A file in the folder of a view. It contains the name of the sibling folder with the shared index.
BASE_NAME: Final = "base"
_STATEMENTS: Final = (
    "CREATE TEMP VIEW texts AS SELECT * FROM shared.texts",
    "CREATE TEMP VIEW sections AS SELECT * FROM shared.sections",
    "CREATE TEMP VIEW chunks AS SELECT * FROM shared.chunks "
    "WHERE file_id IN (SELECT id FROM main.files)",
)


def attach_shared(
    connection: sqlite3.Connection, folder: Path, database: str, mode: Callable[[Path], str]
) -> None:
    """Attach the shared database if `folder` contains a view.

    `database` is the name of the database file, and `mode` returns the URI parameters to open it.
    Raise IndexMissingError if the shared database is missing.
    """
    try:
        base = (folder / BASE_NAME).read_text("ascii").strip()
    except FileNotFoundError:
        return
    path = folder.parent / os.path.basename(base) / database
    if not path.exists():
        raise IndexMissingError(f"the index at {folder} lacks its texts, which were at {path}")
    connection.execute("ATTACH ? AS shared", (f"{path.as_uri()}?{mode(path)}",))
    for statement in _STATEMENTS:
        connection.execute(statement)
