"""Interpret file system events: which files changed, or whether to rescan the folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from rootle.sources.files.excluded_dirs import EXCLUDED_DIRS, EXCLUDING_FILES
from rootle.sources.files.filesystem_walk import IGNORE_NAMES, OWN_IGNORE_NAME
from rootle.sources.git.git_dirs import GitFolders

DELETED: Final = 3  # the value of watchfiles.Change.deleted

# A change to a file with one of these names may include or exclude any file below its folder. A new
# `.git` changes which repository a file belongs to.
_RULE_NAMES: Final = frozenset(
    {*IGNORE_NAMES, OWN_IGNORE_NAME, ".gitmodules", ".git", *EXCLUDING_FILES}
)
# Git rewrites these files when it starts or stops tracking files and at every commit and checkout,
# but also during a plain `git status`.
_GIT_FILES: Final = frozenset({"HEAD", "index", "config", os.path.join("logs", "HEAD")})
_GIT_EXCLUDE: Final = os.path.join("info", "exclude")


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The changes that a set of events indicates."""

    paths: frozenset[str] = frozenset()  # files that changed, relative to the root
    needs_rescan: bool = False  # only a rescan of the whole folder shows what changed
    touches_git: bool = False  # git wrote metadata, possibly without changing a file
    inbox_names: frozenset[str] = frozenset()  # files that appeared in the inbox


@dataclass(frozen=True, slots=True)
class WatchedPaths:
    """The folders that events come from, as real paths."""

    root: str
    index: str  # the index directory, which may lie below the root
    inbox: str  # the folder in the index directory into which other processes put requests
    git: GitFolders | None


def interpret_events(
    events: Iterable[tuple[int, str]], watched: WatchedPaths, folders: Collection[str]
) -> FileChanges:
    """Return the changes that events indicate; `folders` are known folders relative to the root."""
    paths, inbox_names = set(), set()
    needs_rescan = touches_git = False
    for kind, path in events:
        if (name := _relative_to(path, watched.inbox)) is not None:
            inbox_names.update([name] if kind != DELETED else [])
        elif _relative_to(path, watched.index) is not None:
            continue
        elif watched.git is not None and (name := _name_in_git(path, watched.git)) is not None:
            touches_git = touches_git or name in _GIT_FILES
            needs_rescan = needs_rescan or name == _GIT_EXCLUDE
        elif (name := _relative_to(path, watched.root)) is None:
            is_rule = os.path.basename(path) in _RULE_NAMES  # a rule file of a parent folder
            needs_rescan = needs_rescan or path == watched.root or is_rule
        elif _is_rule(name):
            needs_rescan = True
        elif _is_foreign(name, folders):
            continue
        elif _is_folder(path, name, folders):
            needs_rescan = True
        else:
            paths.add(name)
    return FileChanges(frozenset(paths), needs_rescan, touches_git, frozenset(inbox_names))


def _relative_to(path: str, folder: str) -> str | None:
    """Return the path relative to a folder; None if it is not inside."""
    return path[len(folder) + 1 :] if path.startswith(folder + os.sep) else None


def _name_in_git(path: str, git: GitFolders) -> str | None:
    name = _relative_to(path, git.own)
    return name if name is not None else _relative_to(path, git.common)


def _is_rule(name: str) -> bool:
    parts = name.split(os.sep)
    return parts[-1] in _RULE_NAMES and EXCLUDED_DIRS.isdisjoint(parts[:-1])


def _is_foreign(name: str, folders: Collection[str]) -> bool:
    """Return whether a path is in an excluded folder in which git tracks no files."""
    *parents, last = name.split(os.sep)
    if not EXCLUDED_DIRS.isdisjoint(parents):
        return os.path.dirname(name) not in folders and name not in folders
    return last in EXCLUDED_DIRS and name not in folders


def _is_folder(path: str, name: str, folders: Collection[str]) -> bool:
    """Return whether a path is or was a folder, whose files may have disappeared with it."""
    return name in folders or (os.path.isdir(path) and not os.path.islink(path))
