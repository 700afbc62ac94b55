"""How files of others are opened for reading."""

from __future__ import annotations

import os
from typing import Final

# Most of these exist on POSIX only: a FIFO is opened without waiting for its writer, a link that
# took the file's place since it was looked at is refused, and a terminal does not become ours.
OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
