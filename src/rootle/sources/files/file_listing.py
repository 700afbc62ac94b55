"""Every path under a root that may be ours: as git lists them, or as our own walk finds them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rootle.sources.files.excluded_dirs import FOREIGN_FOLDERS, FOREIGN_MARKS, is_linked_worktree
from rootle.sources.files.filesystem_walk import OWN_IGNORE_NAME, walk_folder
from rootle.sources.files.ignore_rules import IgnoreRules, load_ignore_file
from rootle.sources.git.command import find_work_tree
from rootle.sources.git.repository import GitListing, ignored_paths, list_files


@dataclass(frozen=True, slots=True)
class FileListing:
    """Paths relative to a root, in no order; what they are is not known yet."""

    files: list[str]
    unreadable: list[str]  # folders
    in_git: bool


def list_tree(root: str) -> FileListing:
    """The paths under `root` that neither git's ignore files nor `.rootleignore` leave out."""
    listing = list_files(root) if find_work_tree(root) is not None else None
    if listing is None:
        walked = walk_folder(root)
        return FileListing(walked.files, walked.unreadable, in_git=False)
    tree = FileListing([], [], in_git=True)
    _add_repository(root, "", listing, tree)
    return FileListing(_OwnRules(root, tree.files).kept(tree.files), tree.unreadable, in_git=True)


def list_only(root: str, paths: Collection[str]) -> FileListing | None:
    """Of some paths those that `list_tree` would give; None where only the whole tree can tell."""
    folders = {folder for path in paths for folder in _folders_above(path)}
    # The rules of a repository inside this one are found from its own top.
    if any(os.path.lexists(os.path.join(root, folder, ".git")) for folder in folders - {""}):
        return None
    # An ignore file of ours counts where it is listed itself.
    asked = {*paths, *(f"{folder}/{OWN_IGNORE_NAME}".lstrip("/") for folder in folders)}
    if find_work_tree(root) is None:
        files = walk_folder(root, folders).files
        return FileListing([path for path in files if path in paths], [], in_git=False)
    listing = list_files(root, asked)
    if listing is None or listing.submodules or listing.repositories:
        return None
    tree = FileListing([], [], in_git=True)
    _add_repository(root, "", listing, tree)
    kept = _OwnRules(root, tree.files).kept(tree.files)
    return FileListing([path for path in kept if path in paths], [], in_git=True)


def left_out_by_rules(root: str, paths: Collection[str]) -> set[str]:
    """Of some paths, which may be gone, those that git's ignore files or ours leave out."""
    folders = {folder for path in paths for folder in _folders_above(path)}
    homes = (f"{folder}/{OWN_IGNORE_NAME}".lstrip("/") for folder in folders)
    present = [home for home in homes if os.path.lexists(os.path.join(root, home))]
    kept = set(_OwnRules(root, present).kept([*paths]))
    return set(paths) - kept | ignored_paths(root, paths)


def _folders_above(path: str) -> Iterable[str]:
    while path:
        path = _parent(path)
        yield path


def _add_repository(root: str, prefix: str, listing: GitListing, tree: FileListing) -> None:
    """Add what git lists at `prefix`, and what lies in the repositories inside it."""
    folders = _Folders(os.path.join(root, prefix))
    # A tracked path behind a link that took its folder's place is deleted in git's eyes.
    tracked = [path for path in listing.tracked if folders.is_real(_parent(path))]
    untracked = [path for path in listing.untracked if not folders.is_foreign(_parent(path))]
    tree.files.extend(prefix + path for path in (*tracked, *untracked))
    tree.unreadable.extend(prefix + path for path in listing.unreadable)
    submodules = [path for path in listing.submodules if folders.is_real(path)]
    inner = [path for path in listing.repositories if not folders.is_foreign(path)]
    for path in (*submodules, *inner):
        _add_inner(root, prefix + path, tree)


def _add_inner(root: str, path: str, tree: FileListing) -> None:
    folder = os.path.join(root, path)
    if not os.path.exists(os.path.join(folder, ".git")) or is_linked_worktree(folder):
        return
    listing = list_files(folder)
    if listing is not None:
        _add_repository(root, path + "/", listing, tree)
        return
    walked = walk_folder(folder)
    tree.files.extend(f"{path}/{file}" for file in walked.files)
    tree.unreadable.extend(f"{path}/{file}" for file in walked.unreadable)


class _Folders:
    """What is known of the folders of a repository; each is looked at once."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._real = {"": True}
        self._foreign = {"": False}

    def is_real(self, folder: str) -> bool:
        """Whether no link stands in the path of this folder."""
        known = self._real.get(folder)
        if known is None:
            path = os.path.join(self._base, folder)
            known = self.is_real(_parent(folder)) and not os.path.islink(path)
            self._real[folder] = known
        return known

    def is_foreign(self, folder: str) -> bool:
        """Whether a tool filled this folder: what is untracked there was only not ignored yet."""
        known = self._foreign.get(folder)
        if known is None:
            path = os.path.join(self._base, folder)
            known = (
                self.is_foreign(_parent(folder))
                or _name(folder) in FOREIGN_FOLDERS
                or any(os.path.exists(os.path.join(path, mark)) for mark in FOREIGN_MARKS)
            )
            self._foreign[folder] = known
        return known


class _OwnRules:
    """The `.rootleignore` files of a tree, which may leave out tracked files too."""

    def __init__(self, root: str, files: Iterable[str]) -> None:
        self._root = root
        found = [path for path in files if path.endswith(OWN_IGNORE_NAME)]
        self._homes = {_parent(path) for path in found if _name(path) == OWN_IGNORE_NAME}
        # The one at the root counts even where git ignores it, as a person may want it to.
        if os.path.lexists(os.path.join(root, OWN_IGNORE_NAME)):
            self._homes.add("")
        self._rules: dict[str, IgnoreRules | None] = {}

    def kept(self, files: list[str]) -> list[str]:
        return [path for path in files if not self._leaves_out(path)] if self._homes else files

    def _leaves_out(self, path: str) -> bool:
        rules = self._rules_in(_parent(path))
        return rules is None or rules.is_ignored(path, is_folder=False)

    def _rules_in(self, folder: str) -> IgnoreRules | None:
        """The rules for what lies in a folder; None if the folder itself is left out."""
        if folder not in self._rules:
            self._rules[folder] = self._find_rules(folder)
        return self._rules[folder]

    def _find_rules(self, folder: str) -> IgnoreRules | None:
        above = self._rules_in(_parent(folder)) if folder else IgnoreRules()
        if above is None or (folder and above.is_ignored(folder, is_folder=True)):
            return None
        if folder not in self._homes:
            return above
        place = folder + "/" if folder else ""
        file = load_ignore_file(os.path.join(self._root, place, OWN_IGNORE_NAME), place)
        return above.extended([file] if file is not None else [])


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
