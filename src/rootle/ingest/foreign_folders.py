"""Folders that tools fill with files which are nobody's own work."""

from __future__ import annotations

import os
from typing import Final

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
    try:
        with open(os.path.join(folder, ".git"), encoding="utf-8", errors="replace") as pointer:
            return "/worktrees/" in pointer.read(4096).replace("\\", "/")
    except OSError:  # a folder, as in a full repository, or not to be read
        return False
