"""The folders of the indexed revisions of a repository: their names, eviction and sizes."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Final

from rootle.index.format_version import FORMAT_VERSION
from rootle.indexing.status import measure_folder
from rootle.sources.git.trees.revision import Revision
from rootle.types import RevisionStatus

STORE_NAME: Final = "store"  # the index with the documents of all revisions
# Each revision beyond the first takes as much space as its own documents. Eight are enough for the
# releases that a person compares.
MAX_REVISIONS: Final = 8
_VIEW: Final = re.compile(r"[0-9a-f]{40,64}(?:-[0-9a-f]{8})?")
_USED_NAME: Final = "used"  # its modification time is the time of the last search


def settings_dir(folder: Path, fingerprint: str) -> Path:
    """Return the folder of all revisions that this version indexed with the same settings."""
    return folder / _digest(f"{FORMAT_VERSION}/{fingerprint}")


def view_dir(settings: Path, revision: Revision) -> Path:
    """Return the folder of one revision."""
    below = f"-{_digest(revision.prefix)}" if revision.prefix else ""
    return settings / f"{revision.sha}{below}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()


def list_views(folder: Path) -> list[Path]:
    """Return the folders of all indexed revisions, the last used first."""
    try:
        found = [path for path in folder.glob("*/*") if _VIEW.fullmatch(path.name)]
    except OSError:  # without access to the cache folder, no revision can be used
        return []
    return sorted(found, key=_last_use, reverse=True)


def _last_use(view: Path) -> float:
    try:
        return os.stat(view / _USED_NAME).st_mtime
    except OSError:
        return 0.0


def note_use(view: Path) -> None:
    """Record that a revision was searched now."""
    with suppress(OSError):  # a folder that cannot be written can be searched
        (view / _USED_NAME).touch()


def new_view_dir(view: Path) -> Path:
    """Return the path of an empty folder in which a revision is prepared."""
    return view.with_name(f"new-{token_hex(4)}")


def publish_view(prepared: Path, view: Path) -> None:
    """Make a prepared folder the one of a revision, atomically."""
    note_use(prepared)
    os.rename(prepared, view)


def delete_view(view: Path) -> None:
    """Delete the folder of a revision; processes that use it keep their open files."""
    gone = new_view_dir(view)
    with suppress(OSError):
        os.rename(view, gone)
    shutil.rmtree(gone, ignore_errors=True)


def delete_unused(folder: Path, keep: Path) -> None:
    """Delete the least recently used revisions, and what killed processes have left.

    One revision more, `keep`, will be added, or is there already. The caller holds the lock.
    """
    for path in folder.glob("*/new-????????"):
        shutil.rmtree(path, ignore_errors=True)
    others = [view for view in list_views(folder) if view != keep]
    for view in others[MAX_REVISIONS - 1 :]:
        delete_view(view)
    used = {keep.parent, *(view.parent for view in list_views(folder))}
    for settings in folder.iterdir():
        if settings.is_dir() and settings not in used:
            shutil.rmtree(settings, ignore_errors=True)


def measure_revisions(folder: Path) -> RevisionStatus | None:
    """Return the number and the size of the indexed revisions; None if there is none."""
    count = len(list_views(folder))
    return RevisionStatus(str(folder), count, measure_folder(folder)) if count else None
