"""The folders in which git keeps the state of a work tree."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from rootle.sources.files.safe_read import read_regular
from rootle.sources.git.command import find_work_tree

_POINTER: Final = b"gitdir:"


@dataclass(frozen=True, slots=True)
class GitFolders:
    """The git folders of a work tree; they differ in a linked work tree."""

    own: str  # with HEAD and the index of this checkout
    common: str  # with info/exclude and the configuration, shared by all checkouts

    @property
    def is_busy(self) -> bool:
        """Whether a checkout, merge or similar command is running, or was killed."""
        return os.path.exists(os.path.join(self.own, "index.lock"))


def find_git_folders(folder: str) -> GitFolders | None:
    """Return the git folders of the work tree that contains a folder, without running git."""
    top = find_work_tree(folder)
    if top is None:
        return None
    own = _read_pointer(os.path.join(top, ".git"), _POINTER, top)
    return GitFolders(own, _read_pointer(os.path.join(own, "commondir"), b"", own, default=own))


def _read_pointer(path: str, prefix: bytes, base: str, default: str | None = None) -> str:
    """Return the folder that a one-line file names; a relative path starts at `base`."""
    text = read_regular(path)
    if not isinstance(text, bytes) or not text.startswith(prefix):
        return default or path
    return os.path.normpath(os.path.join(base, os.fsdecode(text.removeprefix(prefix).strip())))
