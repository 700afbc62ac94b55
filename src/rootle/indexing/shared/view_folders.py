"""The folders of views: their names, use, eviction and deletion.

There is one folder for each kind of view. It contains a folder for each combination of settings,
and each of those contains a store and its views.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Final

from rootle.index.format_version import FORMAT_VERSION
from rootle.storage.permissions import file_mode

STORE_NAME: Final = "store"  # the index with the documents of all views
_USED_NAME: Final = "used"  # its modification time is the time of the last search

IsView = Callable[[str], bool]  # whether a folder with this name contains a view


def settings_dir(folder: Path, fingerprint: str) -> Path:
    """Return the folder of all views that this version created with the same settings."""
    return folder / short_digest(f"{FORMAT_VERSION}/{fingerprint}")


def short_digest(text: str, size: int = 4) -> str:
    """Return a hash of a text with `size` bytes, as hexadecimal digits."""
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=size).hexdigest()


def list_views(folder: Path, is_view: IsView) -> list[Path]:
    """Return the folders of all views, the most recently used first."""
    try:
        found = [path for path in folder.glob("*/*") if is_view(path.name)]
    except OSError:  # without access to the cache folder, no view can be used
        return []
    return sorted(found, key=_last_use, reverse=True)


def _last_use(view: Path) -> float:
    try:
        return os.stat(view / _USED_NAME).st_mtime
    except OSError:
        return 0.0


def note_use(view: Path) -> None:
    """Record that a view has just been searched."""
    with suppress(OSError):  # a folder that cannot be written can still be searched
        (view / _USED_NAME).touch(file_mode(view))


def new_view_dir(view: Path) -> Path:
    """Return an unused path for a folder in which a view can be prepared."""
    return view.with_name(f"new-{token_hex(4)}")


def publish_view(prepared: Path, view: Path) -> None:
    """Turn a prepared folder into the folder of a view, atomically."""
    note_use(prepared)
    os.rename(prepared, view)


def delete_view(view: Path) -> None:
    """Delete the folder of a view; processes that use it keep their open files."""
    gone = new_view_dir(view)
    with suppress(OSError):
        os.rename(view, gone)
    shutil.rmtree(gone, ignore_errors=True)


def delete_all(folder: Path) -> None:
    """Delete all stores and views. The caller holds the lock."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)


def delete_unused(folder: Path, keep: Path, is_view: IsView, max_views: int) -> None:
    """Delete the least recently used views, and the remains of killed processes.

    `keep` counts as one of the views, even if it does not exist yet, and is never deleted. The
    caller holds the lock.
    """
    others = [view for view in list_views(folder, is_view) if view != keep]
    for view in others[max_views - 1 :]:
        delete_view(view)
    delete_leftovers(folder, is_view, {keep.parent})


def delete_leftovers(folder: Path, is_view: IsView, keep: Collection[Path] = ()) -> None:
    """Delete stores without views, except those in `keep`, and the remains of killed processes."""
    for path in folder.glob("*/new-????????"):
        shutil.rmtree(path, ignore_errors=True)
    used = {*keep, *(view.parent for view in list_views(folder, is_view))}
    for settings in folder.iterdir():
        if settings.is_dir() and settings not in used:
            shutil.rmtree(settings, ignore_errors=True)
