"""Folders that tools fill with files which are nobody's own work."""

from __future__ import annotations

import os
from typing import Final

from rootle.sources.files.safe_read import read_regular

FOREIGN_FOLDERS: Final = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "CVS"),
        *("node_modules", "bower_components", ".yarn", ".pnpm-store", ".parcel-cache", ".turbo"),
        *(".next", ".nuxt", ".svelte-kit"),
        *("__pycache__", "__pypackages__", ".venv", ".tox", ".nox", ".eggs", ".direnv"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"),
        *(".gradle", ".terraform", ".bundle", ".dart_tool", ".cargo", ".stack-work"),
    }
)
# A virtual environment; a cache (bford.info/cachedir), such as the `target` folder of Rust.
FOREIGN_MARKS: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})


def is_linked_worktree(folder: str) -> bool:
    """Whether `git worktree add` made this checkout: its files stand elsewhere already."""
    pointer = read_regular(os.path.join(folder, ".git"))
    if not isinstance(pointer, bytes) or not pointer.startswith(b"gitdir:"):
        return False
    # A submodule has such a pointer too, but shares no folder with another checkout.
    target = os.fsdecode(pointer.removeprefix(b"gitdir:").strip(b" \r\n"))
    return os.path.exists(os.path.join(folder, target, "commondir"))
