"""The folder that an index lies in: what is in it, and that it is nothing else's."""

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
MARKS: Final = {".gitignore": "*\n", _TAG: "Signature: 8a477f597d28d172789f06886806bc55\n"}


def is_index(folder: Path) -> bool:
    """Whether a folder holds an index or what is left of one."""
    return any(os.path.lexists(folder / name) for name in (*DATABASE_FILES, _TAG))


def is_new(folder: Path) -> bool:
    """Whether no index was begun in a folder, which need not be there."""
    return not os.path.exists(folder / DATABASE_FILES[0])


def check_place(folder: Path) -> None:
    """Raise IndexStorageError for a folder that holds other things: they might be deleted."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return  # there is none yet, or the lock will say what is wrong with it
    if names - {LOCK_NAME, *MARKS} and not is_index(folder):
        raise IndexStorageError(
            f"{folder} holds other files and no index; choose an empty or new --index-dir"
        )


def delete_derived(folder: Path) -> None:
    """Delete what can be made again from the database."""
    for name in DERIVED_FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)


def delete_content(folder: Path) -> None:
    for name in DATABASE_FILES:
        (folder / name).unlink(missing_ok=True)
    delete_derived(folder)


def delete_marks(folder: Path) -> None:
    """Delete what `mark_as_cache` wrote, unless somebody has written something else there."""
    for name, text in MARKS.items():
        mark = folder / name
        if mark.exists() and mark.read_bytes() == text.encode():
            mark.unlink()


def mark_as_cache(folder: Path) -> None:
    """Keep the index out of git, also where it lies inside the repository, and out of backups."""
    for name, text in MARKS.items():
        path = folder / name
        if not path.exists():
            path.write_text(text, encoding="ascii")
