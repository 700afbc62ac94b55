"""The folder of an index: its files, and checks that it belongs to rootle."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError
from rootle.index.local.writer_lock import LOCK_NAME

DATABASE_FILES: Final = ("rootle.db", "rootle.db-wal", "rootle.db-shm")
DERIVED_FOLDERS: Final = ("sparse", "dense")
_TAG: Final = "CACHEDIR.TAG"
CACHE_MARKERS: Final = {".gitignore": "*\n", _TAG: "Signature: 8a477f597d28d172789f06886806bc55\n"}


def is_index(folder: Path) -> bool:
    """Return whether a folder contains an index or the remains of one."""
    return any(os.path.lexists(folder / name) for name in (*DATABASE_FILES, _TAG))


def is_new(folder: Path) -> bool:
    """Return whether a folder has no database or does not exist."""
    return not os.path.exists(folder / DATABASE_FILES[0])


def check_index_dir(folder: Path) -> None:
    """Raise IndexStorageError for a folder with other files, which must not be deleted."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return  # the folder does not exist yet, or taking the lock reports the problem
    if names - {LOCK_NAME, *CACHE_MARKERS} and not is_index(folder):
        raise IndexStorageError(
            f"{folder} contains other files and no index; choose an empty or new --index-dir"
        )


def delete_derived(folder: Path) -> None:
    """Delete everything that can be rebuilt from the database."""
    for name in DERIVED_FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)


def delete_content(folder: Path) -> None:
    """Delete the database and the derived indexes."""
    for name in DATABASE_FILES:
        (folder / name).unlink(missing_ok=True)
    delete_derived(folder)


def delete_cache_markers(folder: Path) -> None:
    """Delete the files of `mark_as_cache`, unless their content was changed."""
    for name, text in CACHE_MARKERS.items():
        path = folder / name
        if path.exists() and path.read_bytes() == text.encode():
            path.unlink()


def mark_as_cache(folder: Path) -> None:
    """Exclude the folder from git and from backups."""
    for name, text in CACHE_MARKERS.items():
        path = folder / name
        if not path.exists():
            path.write_text(text, encoding="ascii")
