"""Where git keeps what says which files are ours, and whether it is at work just now."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from rootle.sources.files.safe_read import read_regular
from rootle.sources.git.command import find_work_tree

_POINTER: Final = b"gitdir:"


@dataclass(frozen=True, slots=True)
class GitFolders:
    """The folders of a work tree's repository. In a linked work tree they are two."""

    own: str  # HEAD and the index of this checkout
    common: str  # info/exclude and the settings, shared by all checkouts

    @property
    def is_busy(self) -> bool:
        """Whether a checkout, a merge or the like is under way, or was killed in the middle."""
        return os.path.exists(os.path.join(self.own, "index.lock"))


def find_git_folders(folder: str) -> GitFolders | None:
    """Those of the work tree around a folder, found without running git."""
    top = find_work_tree(folder)
    if top is None:
        return None
    own = _followed(os.path.join(top, ".git"), _POINTER, top)
    return GitFolders(own, _followed(os.path.join(own, "commondir"), b"", own, default=own))


def _followed(path: str, prefix: bytes, base: str, default: str | None = None) -> str:
    """The folder that the one line of a file names, which may be relative to `base`."""
    text = read_regular(path)
    if not isinstance(text, bytes) or not text.startswith(prefix):
        return default or path
    return os.path.normpath(os.path.join(base, os.fsdecode(text.removeprefix(prefix).strip())))
