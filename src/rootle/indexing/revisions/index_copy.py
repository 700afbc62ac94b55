"""Copy the index of a folder, so that the index of an earlier version reuses its documents."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from rootle.errors import IndexStorageError, UnavailableError
from rootle.index.local.content_dir import content_dir, has_content
from rootle.index.local.database import open_database
from rootle.index.local.manifest import Manifest
from rootle.index.local.views.view_files import copy_index
from rootle.index.local.writer_lock import writer_lock
from rootle.storage.transaction import write_transaction


def copy_folder_index(index_dir: Path, target: Path, fingerprint: str) -> bool:
    """Copy a complete index with this fingerprint to an empty folder; return whether there was one.

    If there is none, if another process is writing it, or if it is damaged, the folder stays empty.
    """
    if not has_content(index_dir):
        return False
    try:
        with writer_lock(index_dir, 0, lambda: None):
            content = content_dir(index_dir)
            if not _is_complete(content, fingerprint):
                return False
            copy_index(content, target)
        _forget_folder(target)
    except (IndexStorageError, UnavailableError, sqlite3.Error, OSError):
        shutil.rmtree(target)
        target.mkdir(mode=0o700)
        return False
    return True


def _is_complete(content: Path, fingerprint: str) -> bool:
    with closing(open_database(content, create=False)) as connection:
        manifest = Manifest(connection)
        is_complete = bool(manifest.value("updated_at"))
        return is_complete and manifest.value("fingerprint") == fingerprint


def _forget_folder(target: Path) -> None:
    """Delete what only the folder needs: dates, vectors of deleted chunks, and tokens of scans."""
    with (
        closing(open_database(target, create=False)) as connection,
        write_transaction(connection),
    ):
        for table in ("commit_dates", "retired"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("DELETE FROM meta WHERE name GLOB 'token:*'")
