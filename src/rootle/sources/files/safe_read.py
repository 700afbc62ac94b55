"""Read regular files only: no links, sockets, pipes or devices."""

from __future__ import annotations

import os
import stat

from rootle.sources.files.skip_rules import NOT_REGULAR, SYMLINK, UNREADABLE, VANISHED
from rootle.storage.safe_open import OPEN_FLAGS


def read_regular(path: str, max_bytes: int = -1) -> bytes | str:
    """Return the content of a regular file, or the reason (one of REASONS) why it is not read.

    At most `max_bytes` are read; -1 for no limit.
    """
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return VANISHED
    except OSError:
        return _reason_not_opened(path)
    try:
        # Check the open file: the path may have been replaced since it was looked up.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return NOT_REGULAR
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes)
    except OSError:
        return UNREADABLE
    finally:
        os.close(descriptor)


def _reason_not_opened(path: str) -> str:
    """Return why opening failed; the error codes for links and sockets differ between systems."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return VANISHED
    except OSError:
        return UNREADABLE
    if stat.S_ISLNK(mode):
        return SYMLINK
    return UNREADABLE if stat.S_ISREG(mode) else NOT_REGULAR
