"""List all paths under a root that may be indexed, with git or with a filesystem walk."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from rootle.sources.files.excluded_dirs import EXCLUDED_DIRS, EXCLUDING_FILES, is_linked_worktree
from rootle.sources.files.filesystem_walk import OWN_IGNORE_NAME, walk_folder
from rootle.sources.files.ignore_rules import IgnoreFile, IgnoreRules, load_ignore_file
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.repository import GitListing, ignored_paths, list_files, tracked_paths


@dataclass(frozen=True, slots=True)
class FileListing:
    """Paths relative to a root, unsorted; their type and size are not known yet."""

    files: list[str]
    unreadable: list[str]  # folders
    in_git: bool  # whether git listed them


def list_tree(root: str) -> FileListing:
    """Return the paths under `root` that neither git nor `.rootleignore` ignores."""
    git_listing = list_files(root) if find_work_tree(root) is not None else None
    if git_listing is None:
        walked = walk_folder(root)
        return FileListing(walked.files, walked.unreadable, in_git=False)
    listing = FileListing([], [], in_git=True)
    _add_repository(root, "", git_listing, listing)
    files = open_rootle_ignore(root, listing.files).filter(listing.files)
    return FileListing(files, listing.unreadable, in_git=True)


def list_paths(root: str, paths: Collection[str]) -> FileListing | None:
    """Return the `paths` that `list_tree` would return; None if a full listing is needed."""
    folders = {folder for path in paths for folder in _folders_above(path)}
    # A nested repository has its own ignore rules.
    if any(os.path.lexists(os.path.join(root, folder, ".git")) for folder in folders - {""}):
        return None
    if find_work_tree(root) is None:
        files = walk_folder(root, folders).files
        return FileListing([path for path in files if path in paths], [], in_git=False)
    git_listing = list_files(root, paths)
    if git_listing is None or git_listing.submodules or git_listing.repositories:
        return None
    listing = FileListing([], [], in_git=True)
    _add_repository(root, "", git_listing, listing)
    files = open_rootle_ignore(root, listing.files).filter(listing.files)
    return FileListing([path for path in files if path in paths], [], in_git=True)


def filter_ignored(root: str, paths: Collection[str]) -> set[str]:
    """Return the paths in `paths`, existing or not, that git or `.rootleignore` may ignore.

    If git fails, return all paths.
    """
    kept = set(open_rootle_ignore(root, paths).filter([*paths]))
    ignored = ignored_paths(root, paths)
    return set(paths) if ignored is None else set(paths) - kept | ignored


def find_excluded(root: str, paths: Collection[str]) -> set[str] | None:
    """Return the `paths`, existing or not, that ignore files exclude.

    `.rootleignore` also excludes tracked files; the ignore files of git do not. Return None if git
    fails, because it is then unknown which paths are excluded.
    """
    kept = set(open_rootle_ignore(root, paths).filter([*paths]))
    ignored = ignored_paths(root, kept)
    tracked = tracked_paths(root) if ignored else set()
    if ignored is None or tracked is None:
        return None
    return set(paths) - kept | ((kept & ignored) - tracked)


def _folders_above(path: str) -> Iterable[str]:
    while path:
        path = _parent(path)
        yield path


def _add_repository(root: str, prefix: str, git_listing: GitListing, listing: FileListing) -> None:
    """Add the files that git lists at `prefix`, and those of the repositories inside it."""
    folders = _FolderCache(os.path.join(root, prefix))
    # If a symbolic link has replaced a folder, git considers the tracked files in it deleted.
    tracked = [path for path in git_listing.tracked if folders.is_real(_parent(path))]
    untracked = [path for path in git_listing.untracked if not folders.is_excluded(_parent(path))]
    listing.files.extend(prefix + path for path in (*tracked, *untracked))
    listing.unreadable.extend(prefix + path for path in git_listing.unreadable)
    submodules = [path for path in git_listing.submodules if folders.is_real(path)]
    nested = [path for path in git_listing.repositories if not folders.is_excluded(path)]
    for path in (*submodules, *nested):
        _add_nested_repository(root, prefix + path, listing)


def _add_nested_repository(root: str, path: str, listing: FileListing) -> None:
    folder = os.path.join(root, path)
    if not os.path.exists(os.path.join(folder, ".git")) or is_linked_worktree(folder):
        return
    git_listing = list_files(folder)
    if git_listing is not None:
        _add_repository(root, path + "/", git_listing, listing)
        return
    walked = walk_folder(folder)
    listing.files.extend(f"{path}/{file}" for file in walked.files)
    listing.unreadable.extend(f"{path}/{file}" for file in walked.unreadable)


class _FolderCache:
    """Cached properties of the folders of a repository."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._real = {"": True}
        self._excluded = {"": False}

    def is_real(self, folder: str) -> bool:
        """Return whether no part of this path is a symbolic link."""
        known = self._real.get(folder)
        if known is None:
            path = os.path.join(self._base, folder)
            known = self.is_real(_parent(folder)) and not os.path.islink(path)
            self._real[folder] = known
        return known

    def is_excluded(self, folder: str) -> bool:
        """Return whether the folder, or a folder that contains it, is an excluded folder."""
        known = self._excluded.get(folder)
        if known is None:
            path = os.path.join(self._base, folder)
            known = (
                self.is_excluded(_parent(folder))
                or _name(folder) in EXCLUDED_DIRS
                or any(os.path.exists(os.path.join(path, name)) for name in EXCLUDING_FILES)
            )
            self._excluded[folder] = known
        return known


class RootleIgnore:
    """The `.rootleignore` files of a tree, which may also ignore tracked files."""

    def __init__(self, folders: Collection[str], load: Callable[[str], IgnoreFile | None]) -> None:
        """`load` reads the ignore file in one of the `folders`, given as "" or "folder/"."""
        self._folders = folders
        self._load = load
        self._rules: dict[str, IgnoreRules | None] = {}

    def filter(self, files: list[str]) -> list[str]:
        """Return the files that are not ignored."""
        return [path for path in files if not self._ignores(path)] if self._folders else files

    def _ignores(self, path: str) -> bool:
        rules = self._rules_in(_parent(path))
        return rules is None or rules.is_ignored(path, is_folder=False)

    def _rules_in(self, folder: str) -> IgnoreRules | None:
        """Return the rules for the entries of a folder; None if the folder itself is ignored."""
        if folder not in self._rules:
            # No recursion: the path of a file in a commit may have any depth.
            for above in reversed([folder, *_folders_above(folder)]):
                if above not in self._rules:
                    self._rules[above] = self._find_rules(above)
        return self._rules[folder]

    def _find_rules(self, folder: str) -> IgnoreRules | None:
        above = self._rules[_parent(folder)] if folder else IgnoreRules()
        if above is None or (folder and above.is_ignored(folder, is_folder=True)):
            return None
        if folder not in self._folders:
            return above
        base = folder + "/" if folder else ""
        file = self._load(base)
        return above.extend([file] if file is not None else [])


def open_rootle_ignore(root: str, files: Iterable[str]) -> RootleIgnore:
    """Return the rules of the ignore files in the folders of `files`, and in the folders above.

    The ignore files apply even if git ignores them, because a user may not want to commit them.
    """
    folders = {_parent(path) for path in files}
    folders |= {above for folder in folders for above in _folders_above(folder)} | {""}
    ignoring = {
        folder for folder in folders if os.path.lexists(os.path.join(root, folder, OWN_IGNORE_NAME))
    }
    return RootleIgnore(
        ignoring, lambda base: load_ignore_file(os.path.join(root, base, OWN_IGNORE_NAME), base)
    )


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
