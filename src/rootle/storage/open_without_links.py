"""Open untrusted files without following symbolic links or waiting for pipes."""

from __future__ import annotations

import os
import stat
from typing import Final

# Most of these flags exist only on POSIX. They open a FIFO without blocking, refuse a symbolic link
# that has replaced the file since it was checked, and prevent a terminal from becoming the
# controlling terminal of the process.
_FILE_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)

# On Linux, O_PATH opens a folder even without permission to list it.
_FOLDER_FLAGS: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_SUBFOLDER_FLAGS: Final = _FOLDER_FLAGS | getattr(os, "O_NOFOLLOW", 0)
_CAN_OPEN_IN_FOLDER: Final = os.open in os.supports_dir_fd


def open_below(root: str, path: str) -> int:
    """Open a regular file for reading and return its descriptor. `path` is relative to `root`.

    Symbolic links below `root` are not followed. Except on Windows, this includes links that are
    created during the call. Raises OSError if the path contains a symbolic link or "..", or if it
    does not lead to a regular file that can be opened.
    """
    descriptor = _open(root, path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} in {root} is not a regular file")
    return descriptor


def has_link_above(root: str, path: str) -> bool:
    """Return whether a folder in `path`, which is relative to `root`, is a symbolic link."""
    folder = os.path.dirname(os.path.join(os.path.realpath(root), *path.split("/")))
    return os.path.realpath(folder) != folder


def _open(root: str, path: str) -> int:
    if not _CAN_OPEN_IN_FOLDER:
        return _open_checked(root, path)
    *folders, name = path.split("/")
    if not folders:
        return os.open(os.path.join(root, name), _FILE_FLAGS)
    if os.pardir in folders:
        raise NotADirectoryError(f'cannot open {path} in {root}: the path contains ".."')
    descriptor = os.open(root, _FOLDER_FLAGS)
    try:
        for folder in folders:
            parent = descriptor
            descriptor = os.open(folder, _SUBFOLDER_FLAGS, dir_fd=parent)
            os.close(parent)
        return os.open(name, _FILE_FLAGS, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _open_checked(root: str, path: str) -> int:
    """Check the folders in a path for links, then open the file.

    A link that is created in between is followed.
    """
    if has_link_above(root, path):
        raise NotADirectoryError(f"cannot open {path} in {root}: a folder is a symbolic link")
    return os.open(os.path.join(root, *path.split("/")), _FILE_FLAGS)
