"""Read regular files only: no links, sockets, pipes or devices."""

from __future__ import annotations

import os
import stat

from rootle.sources.files.skip_rules import NOT_REGULAR, SYMLINK, UNREADABLE, VANISHED
from rootle.storage.open_without_links import has_link_above, open_below


def read_regular(path: str) -> bytes | str:
    """Return the content of a regular file, or the reason (one of REASONS) why it is not read.

    Folders above the file may be symbolic links.
    """
    return read_below(*os.path.split(path))


def read_below(root: str, path: str, max_bytes: int = -1) -> bytes | str:
    """Return the content of a regular file below `root`, or the reason as `read_regular` does.

    Neither the file nor a folder between `root` and the file may be a symbolic link. At most
    `max_bytes` are read; -1 means no limit.
    """
    try:
        descriptor = open_below(root, path)
    except FileNotFoundError:
        return VANISHED
    except OSError:
        return _reason_not_opened(root, path)
    try:
        with open(descriptor, "rb") as file:
            return file.read(max_bytes)
    except OSError:
        return UNREADABLE


def _reason_not_opened(root: str, path: str) -> str:
    """Return why opening failed; the error codes for links and sockets differ between systems."""
    if has_link_above(root, path):
        return SYMLINK
    try:
        mode = os.lstat(os.path.join(root, path)).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return VANISHED
    except OSError:
        return UNREADABLE
    if stat.S_ISLNK(mode):
        return SYMLINK
    return UNREADABLE if stat.S_ISREG(mode) else NOT_REGULAR
