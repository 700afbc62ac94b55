"""Find out whether a full disk has caused a SQLite error."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

# The minimum free space. Less might not be enough for the -shm file of SQLite, which has 32 KiB.
_MIN_FREE_BYTES: Final = 65_536


def is_disk_full(folder: Path) -> bool:
    """Return whether the disk of a folder has too little space for SQLite to open a database."""
    try:
        return shutil.disk_usage(folder).free < _MIN_FREE_BYTES
    except OSError:  # the folder was deleted
        return False
