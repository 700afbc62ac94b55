"""Which files are ours? What git tracks or would track, less what no search wants to find."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rootle.errors import IngestError
from rootle.sources.files.file_listing import FileListing, list_only, list_tree
from rootle.sources.files.skip_rules import (
    BINARY,
    NOT_REGULAR,
    SYMLINK,
    TOO_LARGE,
    UNREADABLE,
    reason_by_name,
)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file to index."""

    path: str  # relative to the root, "/" on every platform, as os.fsdecode gives it
    size: int  # bytes
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skip:
    """A file or folder that is left out, and why."""

    path: str
    reason: str  # one of skip_rules.REASONS
    size: int = 0  # bytes; 0 if unknown


@dataclass(frozen=True, slots=True)
class WalkRules:
    """What a person may set."""

    max_file_bytes: int = 1_000_000
    # Endings of binary files that a plugin turns into text, each with where that is imported from.
    readers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Discovery:
    """Everything under a root that is ours, and what was left out with a reason, sorted by path."""

    files: tuple[FileEntry, ...]
    skips: tuple[Skip, ...]
    in_git: bool


@dataclass(frozen=True, slots=True)
class _Sorted:
    files: list[FileEntry] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)


def walk_files(root: Path, rules: WalkRules) -> Discovery:
    """The files under `root`, judged by name and size alone.

    Raises IngestError if `root` is no folder, cannot be read, or is git's own.
    """
    # The real path, as git sees it: a link may lead into a work tree or out of one.
    folder = os.path.realpath(root)
    _check_root(folder)
    return _sorted_out(folder, list_tree(folder), rules)


def look_at(root: Path, paths: Collection[str], rules: WalkRules) -> Discovery | None:
    """What `walk_files` says of some paths; None where only the whole walk can tell.

    Costs as much as there are paths, however large the folder is.
    """
    folder = os.path.realpath(root)
    _check_root(folder)
    tree = list_only(folder, paths)
    return None if tree is None else _sorted_out(folder, tree, rules)


def _sorted_out(folder: str, tree: FileListing, rules: WalkRules) -> Discovery:
    found = _Sorted(skips=[Skip(path, UNREADABLE) for path in tree.unreadable])
    _sort_out(folder, tree.files, rules, found)
    return Discovery(
        files=tuple(sorted(found.files, key=lambda entry: entry.path)),
        skips=tuple(sorted(found.skips, key=lambda skip: skip.path)),
        in_git=tree.in_git,
    )


def _check_root(folder: str) -> None:
    try:
        with os.scandir(folder) as entries:
            names = {entry.name for entry in entries}
    except FileNotFoundError as error:
        raise IngestError(f"{folder} does not exist: name a folder to index") from error
    except NotADirectoryError as error:
        raise IngestError(f"{folder} is a file: name the folder that holds it") from error
    except OSError as error:
        raise IngestError(
            f"{folder} cannot be read ({error.strerror}): check its rights"
        ) from error
    if {"HEAD", "objects", "refs"} <= names or ".git" in folder.split(os.sep):
        raise IngestError(f"{folder} is git's own folder and has no work tree: index a checkout")


def _sort_out(folder: str, paths: Iterable[str], rules: WalkRules, found: _Sorted) -> None:
    base = os.path.join(folder, "")
    for path in paths:
        try:
            info = os.lstat(base + path)
        except (FileNotFoundError, NotADirectoryError):
            continue  # deleted but still tracked, left out by a sparse checkout, or gone just now
        except OSError:
            found.skips.append(Skip(path, UNREADABLE))
            continue
        reason = _reason(path, info, rules)
        if reason is None:
            found.files.append(FileEntry(path, info.st_size, info.st_mtime_ns))
        elif not stat.S_ISDIR(info.st_mode):
            found.skips.append(Skip(path, reason, info.st_size))


def _reason(path: str, info: os.stat_result, rules: WalkRules) -> str | None:
    if not stat.S_ISREG(info.st_mode):
        return SYMLINK if stat.S_ISLNK(info.st_mode) else NOT_REGULAR
    reason = reason_by_name(path)
    if reason == BINARY and rules.readers and path.lower().endswith(tuple(dict(rules.readers))):
        reason = None
    if reason is None and info.st_size > rules.max_file_bytes:
        return TOO_LARGE
    return reason
