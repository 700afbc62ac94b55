"""The notice of the last update: the newest generation that other processes were notified of.

Cursors and caches contain generations, so an index never uses a generation twice. If the database
is lost, this file shows at which generation the next database can start.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from rootle.storage.atomic_file import write_file
from rootle.storage.permissions import file_mode

NOTICE_NAME: Final = "updated"
_NOTICE: Final = re.compile(rb"([0-9]{1,15})\n")
# An upper bound on the number of generations that killed updates can have created since the last
# notice. The bound is safe, because an update creates one generation for about every two million
# characters, one for each step that embeds pending chunks, and a few others.
_MAX_UNNOTIFIED: Final = 100_000


def write_update_notice(index_dir: Path, generation: int) -> None:
    """Notify other processes of a generation, unless the last notice already contains it."""
    path, content = index_dir / NOTICE_NAME, f"{generation}\n".encode()
    with suppress(OSError):
        if path.read_bytes() == content:
            return
    # If the notice cannot be written, other processes notice the update at their next search.
    with suppress(OSError):
        write_file(path, content, mode=file_mode(index_dir), sync=False)


def notified_generation(index_dir: Path) -> int | None:
    """Return the generation of the last notice; None if there is no notice, or it is unreadable."""
    try:
        found = _NOTICE.fullmatch((index_dir / NOTICE_NAME).read_bytes())
    except OSError:
        return None
    return int(found[1]) if found else None


def unused_generation(index_dir: Path) -> int:
    """Return a generation that is newer than all generations of an unreadable database."""
    return (notified_generation(index_dir) or 0) + _MAX_UNNOTIFIED
