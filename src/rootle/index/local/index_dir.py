"""The folder of an index: its files, and checks that it belongs to rootle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError
from rootle.index.local.content_dir import DATABASE_FILES, POINTER_NAME, has_content
from rootle.index.local.database import storage_errors
from rootle.index.local.writer_lock import LOCK_NAME
from rootle.storage.atomic_file import write_file
from rootle.storage.permissions import file_mode, make_private_dir

# The folder with the index of the commits. This folder and the next three are in the index
# directory only if the user has chosen that directory. By default, all work trees of a repository
# share them, and all projects share the index of packages.
HISTORY_DIR: Final = "history"
REMOVED_DIR: Final = "removed"  # the index of the definitions that commits removed
REVISIONS_DIR: Final = "revisions"  # the indexes of earlier versions
DEPENDENCIES_DIR: Final = "dependencies"  # the index of packages
EXTERNAL_DIR: Final = "external"  # the sources that the user added, and their index
WATCH_DIR: Final = "watch"  # requests to a running watcher, and its state
INNER_DIRS: Final = (HISTORY_DIR, REMOVED_DIR, REVISIONS_DIR, DEPENDENCIES_DIR, EXTERNAL_DIR)
_TAG: Final = "CACHEDIR.TAG"
CACHE_MARKERS: Final = {".gitignore": "*\n", _TAG: "Signature: 8a477f597d28d172789f06886806bc55\n"}
_MARKER_STARTS: Final = tuple(f"{name}." for name in CACHE_MARKERS)


def is_index(folder: Path) -> bool:
    """Return whether a folder contains an index or the remains of one."""
    return any(os.path.lexists(folder / name) for name in (*DATABASE_FILES, POINTER_NAME, _TAG))


def is_new(folder: Path) -> bool:
    """Return whether a folder has no database or does not exist."""
    return not has_content(folder)


def check_index_dir(folder: Path) -> None:
    """Raise IndexStorageError if a folder contains files but no index.

    Such files must not be deleted.
    """
    try:
        names = set(os.listdir(folder))
    except OSError:
        return  # the folder does not exist yet, or taking the lock reports the problem
    names -= {name for name in INNER_DIRS if is_index(folder / name)}
    # Another process may be writing these files at the moment, or was killed while it did.
    names -= {name for name in names if name.endswith(".new") and name.startswith(_MARKER_STARTS)}
    # A watcher keeps its folder after the index was deleted.
    if names - {LOCK_NAME, WATCH_DIR, *CACHE_MARKERS} and not is_index(folder):
        raise IndexStorageError(
            f"{folder} contains other files and no index; choose an empty or new --index-dir"
        )


def delete_cache_markers(folder: Path) -> None:
    """Delete the files that `mark_as_cache` has created, unless their content was changed."""
    for name, text in CACHE_MARKERS.items():
        path = folder / name
        if path.exists() and path.read_bytes() == text.encode():
            path.unlink()


def make_cache_folder(folder: Path) -> None:
    """Create a private folder for an index, and mark it as a cache.

    Raise IndexStorageError if it cannot be written, for example because the disk is full.
    """
    with storage_errors(folder):
        make_private_dir(folder)
        mark_as_cache(folder)


def mark_as_cache(folder: Path) -> None:
    """Exclude the folder from git and from backups."""
    for name, text in CACHE_MARKERS.items():
        path = folder / name
        if not path.exists():
            write_file(path, text.encode("ascii"), mode=file_mode(folder), sync=False)
