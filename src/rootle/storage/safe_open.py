"""Flags for opening untrusted files for reading."""

from __future__ import annotations

import os
from typing import Final

# Most of these flags exist only on POSIX. They open a FIFO without blocking, refuse a symbolic link
# that has replaced the file since it was checked, and prevent a terminal from becoming the
# controlling terminal of the process.
OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
