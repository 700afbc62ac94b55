"""Permissions of the files that rootle writes, regardless of the umask.

By default, only the owner can read a file. If an index is shared, the permissions of its folder
determine who can read its files. Other users never get write permission.
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
    """Return the mode of an index directory for a value of `indexSharing`.

    Raises ConfigError if the value is invalid.
    """
    if sharing not in _SHARED_DIRS:
        raise ConfigError(f'indexSharing is "{sharing}"; use private, group or everyone')
    return _SHARED_DIRS[sharing]


def make_private_dir(folder: Path) -> None:
    """Create a folder and its missing parents with access for the owner only.

    If the folder exists, its permissions are corrected.
    """
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
    """Return the mode of a new file, which can be read by the users who can read the folder."""
    return PRIVATE_FILE | _mode(folder) & 0o044


def create_database_file(path: Path, mode: int) -> None:
    """Create an empty database file, because SQLite would create one that other users can read.

    An existing file is not opened: closing it would release the locks that other connections of
    this process hold on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode))


def set_file_modes(folder: Path) -> None:
    """Set the modes of the files in a folder. A library may have created them with other modes.

    Lock files stay private: a user who can open such a file can block all updates.
    """
    mode = file_mode(folder)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                is_lock = entry.name.endswith(".lock")
                _set_mode(Path(entry.path), PRIVATE_FILE if is_lock else mode)


def set_tree_modes(folder: Path, mode: int) -> None:
    """Set the mode of a folder and of its subfolders, and adapt the modes of their files to it."""
    for parent, _, _ in os.walk(folder):
        _set_mode(Path(parent), mode)
        with suppress(FileNotFoundError):
            set_file_modes(Path(parent))


def _mode(path: Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def _set_mode(path: Path, mode: int) -> None:
    """Set the permissions of group and others. The permissions of the owner are kept.

    Files that no longer exist are ignored. Files of other users are ignored too, because only their
    owners can change the permissions.
    """
    with suppress(FileNotFoundError, PermissionError):
        current = stat.S_IMODE(os.lstat(path).st_mode)
        wanted = current & 0o700 | mode & 0o077
        if current != wanted:
            os.chmod(path, wanted)
