"""Walk a folder without git, applying its ignore files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.sources.files.excluded_dirs import EXCLUDED_DIRS, EXCLUDING_FILES, is_linked_worktree
from rootle.sources.files.ignore_rules import IgnoreFile, IgnoreRules, load_ignore_file
from rootle.sources.git.git_dirs import find_work_tree

# If a folder contains both files, `.ignore` takes precedence.
IGNORE_NAMES: Final = (".gitignore", ".ignore")
OWN_IGNORE_NAME: Final = ".rootleignore"


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The paths that a walk found, relative to its root."""

    files: list[str] = field(default_factory=list)  # everything that is not a folder
    unreadable: list[str] = field(default_factory=list)  # folders
    folders: list[str] = field(default_factory=list)  # those that were entered; "" for the root


@dataclass(frozen=True, slots=True)
class _Folder:
    prefix: str  # relative to the root: "", or ending in "/"
    rules: IgnoreRules
    own_rules: IgnoreRules


def walk_folder(root: str, only: Collection[str] | None = None) -> FolderListing:
    """List the files under `root` that are not ignored, without following links.

    If `only` is given, enter only these folders.
    """
    return _FolderWalk(root, only).run()


class _FolderWalk:
    def __init__(self, root: str, only: Collection[str] | None) -> None:
        self._root = root
        self._only = only
        # The root may be inside a repository that git cannot read. Ignore files above the root then
        # apply as well, so rules are matched from the top of the repository.
        self._top = find_work_tree(root) or root
        below = os.path.relpath(root, self._top).replace(os.sep, "/")
        self._offset = "" if below == os.curdir else below + "/"
        self._listing = FolderListing()
        self._pending = [_Folder("", self._rules_above(), IgnoreRules())]

    def run(self) -> FolderListing:
        while self._pending:
            folder = self._pending.pop()
            entries = self._scan(folder)
            names = {entry.name for entry in entries}
            if folder.prefix and self._is_excluded(folder, names):
                continue
            self._listing.folders.append(folder.prefix.rstrip("/"))
            folder = self._add_ignore_files(folder, names)
            for entry in entries:
                self._add(entry, folder)
        return self._listing

    def _scan(self, folder: _Folder) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self._root, folder.prefix)) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):  # deleted since its parent was read
            return []
        except OSError:
            self._listing.unreadable.append(folder.prefix.rstrip("/"))
            return []

    def _add(self, entry: os.DirEntry[str], folder: _Folder) -> None:
        path = folder.prefix + entry.name
        is_folder = _is_folder(entry)
        if is_folder and (entry.name in EXCLUDED_DIRS or not self._may_enter(path)):
            return
        full = self._offset + path
        if folder.rules.is_ignored(full, is_folder) or folder.own_rules.is_ignored(full, is_folder):
            return
        if is_folder:
            self._pending.append(_Folder(path + "/", folder.rules, folder.own_rules))
        else:
            self._listing.files.append(path)

    def _may_enter(self, path: str) -> bool:
        return self._only is None or path in self._only

    def _is_excluded(self, folder: _Folder, names: set[str]) -> bool:
        return not EXCLUDING_FILES.isdisjoint(names) or (
            ".git" in names and is_linked_worktree(os.path.join(self._root, folder.prefix))
        )

    def _add_ignore_files(self, folder: _Folder, names: set[str]) -> _Folder:
        found = [name for name in IGNORE_NAMES if name in names]
        own = [OWN_IGNORE_NAME] if OWN_IGNORE_NAME in names else []
        if not found and not own:
            return folder
        base = self._offset + folder.prefix
        return _Folder(
            folder.prefix,
            folder.rules.extend(self._load(base, found)),
            folder.own_rules.extend(self._load(base, own)),
        )

    def _load(self, base: str, names: Sequence[str]) -> Iterator[IgnoreFile]:
        """Load the ignore files of a folder; `base` is its path from the top, ending in "/"."""
        for name in names:
            file = load_ignore_file(os.path.join(self._top, base, name), base)
            if file is not None:
                yield file

    def _rules_above(self) -> IgnoreRules:
        rules = IgnoreRules()
        exclude = os.path.join(self._top, ".git", "info", "exclude")
        file = load_ignore_file(exclude, "") if os.path.isfile(exclude) else None
        if file is not None:
            rules = rules.extend([file])
        base = ""
        for part in self._offset.split("/")[:-1]:
            names = [name for name in IGNORE_NAMES if self._is_file(base + name)]
            rules = rules.extend(self._load(base, names))
            if rules.is_ignored(base + part, is_folder=True):
                # A user who names an ignored folder wants its contents indexed.
                return IgnoreRules()
            base += part + "/"
        return rules

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(os.path.join(self._top, path))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:  # the entry is gone or not accessible
        return False
