"""What an event of the file system means for an index: these files, or a look at everything."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from rootle.sources.files.excluded_dirs import EXCLUDED_DIRS, EXCLUDING_FILES
from rootle.sources.files.filesystem_walk import IGNORE_NAMES, OWN_IGNORE_NAME
from rootle.sources.git.git_dirs import GitFolders

DELETED: Final = 3  # as watchfiles numbers its kinds of changes

# A change of these may change what is ours anywhere below, and that of a `.git` where git looks.
_RULES: Final = frozenset({*IGNORE_NAMES, OWN_IGNORE_NAME, ".gitmodules", ".git", *EXCLUDING_FILES})
# These are rewritten when files begin or cease to be tracked, and at every commit and checkout;
# but also by a mere `git status`.
_GIT_FILES: Final = frozenset({"HEAD", "index", "config", os.path.join("logs", "HEAD")})
_EXCLUDE: Final = os.path.join("info", "exclude")


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Some events, and what they mean."""

    paths: frozenset[str] = frozenset()  # files that changed, relative to the root
    is_whole: bool = False  # only a look at everything tells what changed
    is_git: bool = False  # git wrote something down: perhaps what is tracked, perhaps nothing new
    notes: frozenset[str] = frozenset()  # names of files that came into the inbox


@dataclass(frozen=True, slots=True)
class WatchedPaths:
    """The folders that events come from, as real paths."""

    root: str
    index: str  # where the index lies, be it inside the root
    inbox: str  # a folder in that, where other processes leave notes
    git: GitFolders | None


def interpret(
    events: Iterable[tuple[int, str]], places: WatchedPaths, folders: Collection[str]
) -> FileChanges:
    """What some events mean; `folders` are those known below the root, relative to it."""
    paths, notes = set(), set()
    is_whole = is_git = False
    for kind, path in events:
        if (name := _below(path, places.inbox)) is not None:
            notes.update([name] if kind != DELETED else [])
        elif _below(path, places.index) is not None:
            continue
        elif places.git is not None and (name := _in_git(path, places.git)) is not None:
            is_git = is_git or name in _GIT_FILES
            is_whole = is_whole or name == _EXCLUDE
        elif (name := _below(path, places.root)) is None:
            is_whole = is_whole or path == places.root or os.path.basename(path) in _RULES
        elif _is_rule(name) or (not _is_foreign(name) and _is_folder(path, name, folders)):
            is_whole = True
        elif not _is_foreign(name):
            paths.add(name)
    return FileChanges(frozenset(paths), is_whole, is_git, frozenset(notes))


def _below(path: str, folder: str) -> str | None:
    """The path relative to a folder; None where it does not lie in it."""
    return path[len(folder) + 1 :] if path.startswith(folder + os.sep) else None


def _in_git(path: str, git: GitFolders) -> str | None:
    name = _below(path, git.own)
    return name if name is not None else _below(path, git.common)


def _is_rule(name: str) -> bool:
    parts = name.split(os.sep)
    return parts[-1] in _RULES and EXCLUDED_DIRS.isdisjoint(parts[:-1])


def _is_foreign(name: str) -> bool:
    return not EXCLUDED_DIRS.isdisjoint(name.split(os.sep))


def _is_folder(path: str, name: str, folders: Collection[str]) -> bool:
    """Also for one that is gone: then what lay in it is gone too."""
    return name in folders or (os.path.isdir(path) and not os.path.islink(path))
