"""Permissions of the files that rootle writes, whatever the umask.

Everything is readable by its owner alone. An index can be shared: then its folder decides who may
read the files in it. Others never get the permission to write.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from rootle.errors import ConfigError

PRIVATE_FILE: Final = 0o600
PRIVATE_DIR: Final = 0o700
_SHARED_DIRS: Final = {"private": PRIVATE_DIR, "group": 0o750, "everyone": 0o755}


def shared_dir_mode(sharing: str) -> int:
    """Return the mode of the folder of an index for a value of `indexSharing`."""
    if sharing not in _SHARED_DIRS:
        raise ConfigError(f'indexSharing is "{sharing}"; use private, group or everyone')
    return _SHARED_DIRS[sharing]


def make_private_dir(folder: Path) -> None:
    """Create a folder and its missing parents for the owner alone; correct an existing folder."""
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    for path in reversed(missing):
        with suppress(FileExistsError):  # another process has just created it
            path.mkdir(mode=PRIVATE_DIR)
    _set_mode(folder, PRIVATE_DIR)


def make_subfolder(folder: Path) -> None:
    """Create a folder with the permissions of its parent."""
    with suppress(FileExistsError):
        folder.mkdir()
    _set_mode(folder, _mode(folder.parent) & 0o755 | PRIVATE_DIR)


def file_mode(folder: Path) -> int:
    """Return the mode of a new file in a folder: those who may read the folder may read it."""
    return PRIVATE_FILE | _mode(folder) & 0o044


def create_database_file(path: Path, mode: int) -> None:
    """Create an empty file for SQLite, which would itself create one that every user can read.

    An existing file is not opened: closing it would release the locks that other connections of
    this process hold on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode))


def set_file_modes(folder: Path) -> None:
    """Give the files in a folder, which a library may have created, the mode of new ones."""
    mode = file_mode(folder)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                _set_mode(Path(entry.path), mode)


def set_tree_modes(folder: Path, mode: int) -> None:
    """Give a folder and all folders in it a mode, and the files the one that follows from it."""
    for parent, _, _ in os.walk(folder):
        _set_mode(Path(parent), mode)
        with suppress(FileNotFoundError):
            set_file_modes(Path(parent))


def _mode(path: Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def _set_mode(path: Path, mode: int) -> None:
    """Set the permissions of the group and of others; the owner may have made the file read-only.

    The file may be gone, or belong to another user, whose process corrects it.
    """
    with suppress(FileNotFoundError, PermissionError):
        current = stat.S_IMODE(os.lstat(path).st_mode)
        wanted = current & 0o700 | mode & 0o077
        if current != wanted:
            os.chmod(path, wanted)
