"""Folders of caches, dependencies and the like, in which only tracked files are indexed."""

from __future__ import annotations

import os
from typing import Final

from rootle.sources.files.regular_file_reader import read_regular

EXCLUDED_DIRS: Final = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "CVS"),
        *("node_modules", "bower_components", ".yarn", ".pnpm-store", ".parcel-cache", ".turbo"),
        *(".next", ".nuxt", ".svelte-kit"),
        *("__pycache__", "__pypackages__", ".venv", ".tox", ".nox", ".eggs", ".direnv"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"),
        *(".gradle", ".terraform", ".bundle", ".dart_tool", ".cargo", ".stack-work"),
    }
)
# A folder that contains a file of this name is excluded: the file marks a virtual environment, or a
# cache (bford.info/cachedir) such as the `target` folder of Rust.
EXCLUDING_FILES: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})


def is_linked_worktree(folder: str) -> bool:
    """Return whether `git worktree add` created this checkout, which duplicates another one."""
    pointer = read_regular(os.path.join(folder, ".git"))
    if not isinstance(pointer, bytes) or not pointer.startswith(b"gitdir:"):
        return False
    # The `.git` of a submodule is such a file too, but a submodule does not share a git folder with
    # another checkout.
    target = os.fsdecode(pointer.removeprefix(b"gitdir:").strip(b" \r\n"))
    return os.path.exists(os.path.join(folder, target, "commondir"))
