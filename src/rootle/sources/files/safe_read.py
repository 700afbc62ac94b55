"""Read the bytes of a regular file, and of nothing else that may stand under its name."""

from __future__ import annotations

import os
import stat

from rootle.sources.files.skip_rules import NOT_REGULAR, SYMLINK, UNREADABLE, VANISHED
from rootle.storage.safe_open import OPEN_FLAGS


def read_regular(path: str) -> bytes | str:
    """The content, or the reason (one of skip_rules.REASONS) why there is none to read."""
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return VANISHED
    except OSError:
        return _reason_not_opened(path)
    try:
        # What was looked up before may have been replaced; only the open file is certain.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return NOT_REGULAR
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return UNREADABLE
    finally:
        os.close(descriptor)


def _reason_not_opened(path: str) -> str:
    """A link or a socket is refused too, with an error of its own on every system."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return VANISHED
    except OSError:
        return UNREADABLE
    if stat.S_ISLNK(mode):
        return SYMLINK
    return UNREADABLE if stat.S_ISREG(mode) else NOT_REGULAR
