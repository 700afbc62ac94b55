"""The text of an indexed file as it is now."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import FileState
from rootle.storage.safe_open import OPEN_FLAGS
from rootle.types import EXTRACTED, FILES

# A file that grew beyond this since it was indexed is another file.
_MAX_BYTES: Final = 16_000_000


@dataclass(frozen=True, slots=True)
class CurrentText:
    lines: tuple[str, ...]
    changed: bool  # since it was indexed


def current_text(root: Path | None, state: FileState, snapshot: Snapshot) -> CurrentText | None:
    """The lines of a file; None where it is gone, or is none of ours any more."""
    if root is None or state.source != FILES:
        return CurrentText(tuple(snapshot.text(state.id).split("\n")), changed=False)
    path, changed = root / state.path, has_changed(f"{root}{os.sep}", state)
    if not changed and not state.skipped_chars:
        return CurrentText(tuple(snapshot.text(state.id).split("\n")), changed=False)
    raw = _read(root, path)
    if raw is None:
        return None
    if state.encoding == EXTRACTED:  # what it says now is known when it is indexed again
        return CurrentText(tuple(snapshot.text(state.id).split("\n")), changed=changed)
    lines = raw.decode(state.encoding, errors="replace").removeprefix("\ufeff").split("\n")
    return CurrentText(tuple(lines), changed=changed)


def any_changed(root: Path | None, states: Iterable[FileState]) -> bool:
    """Whether some files are not any more what was indexed; without a root nobody can tell."""
    if root is None:
        return False
    folder = f"{root}{os.sep}"
    return any(has_changed(folder, state) for state in states if state.source == FILES)


def has_changed(folder: str, state: FileState) -> bool:
    """Whether a file below `folder`, which ends in a separator, is gone or was written since."""
    try:
        info = os.lstat(folder + state.path)
    except OSError:
        return True
    return info.st_mtime_ns != state.mtime_ns or info.st_size != state.size


def _read(root: Path, path: Path) -> bytes | None:
    # Links are never followed: not that of the file, and not that of a folder on the way to it.
    if os.path.realpath(path.parent) != os.path.join(
        os.path.realpath(root), os.path.relpath(path.parent, root)
    ).removesuffix("/."):
        return None
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_BYTES:
            return None
        return file.read()
