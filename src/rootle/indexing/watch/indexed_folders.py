"""List the folders whose contents determine what is indexed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from rootle.sources.files.filesystem_walk import walk_folder
from rootle.sources.git.git_dirs import find_git_folders, find_work_tree


def list_tree_folders(root: str, known_paths: Collection[str]) -> frozenset[str]:
    """Return the folders below a root that are not ignored or that contain known files.

    The folders are relative to the root.
    """
    folders = set(walk_folder(root).folders)
    for path in known_paths:
        # Git may track files in a folder that its rules ignore.
        folder = path.rpartition("/")[0]
        while folder not in folders and os.path.isdir(os.path.join(root, folder)):
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


def list_nested_git_folders(root: str, tree_folders: Collection[str]) -> Iterator[str]:
    """Yield git folders whose files decide what is indexed in repositories below a root."""
    for folder in tree_folders:
        path = os.path.join(root, folder)
        if folder and os.path.lexists(os.path.join(path, ".git")):
            git = find_git_folders(path)
            if git is not None:
                yield from (git.own, os.path.join(git.own, "logs"))
                yield os.path.join(git.common, "info")


def list_rule_folders(root: str) -> Iterator[str]:
    """Yield folders outside the tree whose files decide what is indexed in the tree."""
    git = find_git_folders(root)
    if git is None:
        return
    for folder in (git.own, git.common):
        yield from (folder, os.path.join(folder, "logs"), os.path.join(folder, "info"))
    top = find_work_tree(root) or root
    while root != top:
        root = os.path.dirname(root)
        yield root
