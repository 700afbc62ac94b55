"""Find the files to index below a folder: list its files, and filter by name, type and size."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Final

from rootle.errors import IngestError
from rootle.sources.documents.formats import IMAGE, can_read, document_format, is_owner_file
from rootle.sources.documents.recognition import reason_not_recognized
from rootle.sources.files.file_listing import FileListing, list_paths, list_tree
from rootle.sources.files.size_limit import check_document_size
from rootle.sources.files.skip_rules import (
    BINARY,
    NOT_REGULAR,
    SECRET,
    SYMLINK,
    TOO_LARGE,
    UNREADABLE,
    reason_by_name,
)
from rootle.sources.source import DocumentEntry, Scan, SkippedDocument
from rootle.storage.change_time import change_time_ns, modification_time_ns
from rootle.text.path_glob import matches_glob
from rootle.types import NEEDS_EXTRA

# The maximum size of a document. It is high because documents can contain images and videos, which
# are not read. The text of a document has a separate limit.
_MAX_DOCUMENT_BYTES: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class WalkRules:
    """The configurable rules of a file walk."""

    max_file_bytes: int = 5_000_000
    # Pairs of a file name ending and the plugin, written as "package.module:name", that converts
    # such files to text.
    readers: tuple[tuple[str, str], ...] = ()
    # Glob patterns for values that are not secrets, and for paths of files without secrets.
    secret_exceptions: tuple[str, ...] = ()
    recognize: str = "off"  # the value of the setting `ocr`
    recognition_dir: str = ""  # the cache folder for recognized texts


@dataclass(frozen=True, slots=True)
class _Selection:
    files: list[DocumentEntry] = field(default_factory=list)
    skips: list[SkippedDocument] = field(default_factory=list)


def walk_files(root: Path, rules: WalkRules) -> Scan:
    """Return the files under `root`, and the skipped ones with a reason, both sorted by path.

    Files are not opened. Raise IngestError if `root` is not a folder, cannot be read, or is a git
    directory.
    """
    # Use the real path, as git does: a link may lead into or out of a work tree.
    folder = os.path.realpath(root)
    check_root(folder)
    selection = _select(folder, list_tree(folder), rules)
    return Scan(tuple(selection.files), tuple(selection.skips))


def look_up_files(root: Path, paths: Collection[str], rules: WalkRules) -> Scan | None:
    """Return the result of `walk_files` for the given paths; None if that requires a full walk.

    The cost depends on the number of paths, not on the size of the tree.
    """
    folder = os.path.realpath(root)
    check_root(folder)
    listing = list_paths(folder, paths)
    if listing is None:
        return None
    selection = _select(folder, listing, rules)
    listed = {entry.uri for entry in selection.files} | {skip.uri for skip in selection.skips}
    return Scan(
        tuple(selection.files),
        tuple(selection.skips),
        is_complete=False,
        removed=tuple(path for path in paths if path not in listed),
    )


def check_root(folder: str) -> None:
    """Raise IngestError if a path is not a readable folder, or is a git directory."""
    try:
        with os.scandir(folder) as entries:
            names = {entry.name for entry in entries}
    except FileNotFoundError as error:
        raise IngestError(f"{folder} does not exist: name a folder to index") from error
    except NotADirectoryError as error:
        raise IngestError(f"{folder} is a file: name the folder that contains it") from error
    except OSError as error:
        raise IngestError(
            f"{folder} cannot be read ({error.strerror}): check its permissions"
        ) from error
    if {"HEAD", "objects", "refs"} <= names or ".git" in folder.split(os.sep):
        raise IngestError(f"{folder} is a git directory and has no work tree: index a checkout")


def _select(folder: str, listing: FileListing, rules: WalkRules) -> _Selection:
    selection = _Selection(skips=[SkippedDocument(path, UNREADABLE) for path in listing.unreadable])
    _classify(folder, listing.files, rules, selection)
    selection.files.sort(key=attrgetter("uri"))
    selection.skips.sort(key=attrgetter("uri"))
    return selection


def _classify(folder: str, paths: Iterable[str], rules: WalkRules, selection: _Selection) -> None:
    base = os.path.join(folder, "")
    for path in paths:
        try:
            info = os.lstat(base + path)
        except (FileNotFoundError, NotADirectoryError):
            continue  # tracked but deleted, left out by a sparse checkout, or deleted just now
        except OSError:
            selection.skips.append(SkippedDocument(path, UNREADABLE))
            continue
        reason = _skip_reason(path, info, rules)
        if reason is None:
            selection.files.append(
                DocumentEntry(path, info.st_size, modification_time_ns(info), change_time_ns(info))
            )
        elif not stat.S_ISDIR(info.st_mode):
            selection.skips.append(SkippedDocument(path, reason, info.st_size))


def _skip_reason(path: str, info: os.stat_result, rules: WalkRules) -> str | None:
    if not stat.S_ISREG(info.st_mode):
        return SYMLINK if stat.S_ISLNK(info.st_mode) else NOT_REGULAR
    reason = skip_reason(path, info.st_size, rules)
    if reason not in (None, BINARY) or _has_plugin(path, rules):
        return reason
    found = document_format(path)
    return reason if found is None else _document_reason(path, found, info.st_size, rules)


def skip_reason(path: str, size: int, rules: WalkRules) -> str | None:
    """Return why a regular file is skipped without being read; None if it must be read.

    Plugins that convert documents to text are considered. Built-in readers are not, because they
    need a file on disk.
    """
    reason = reason_by_name(path)
    if reason == SECRET and any(matches_glob(path, rule) for rule in rules.secret_exceptions):
        reason = None
    if not _has_plugin(path, rules) or reason not in (None, BINARY):
        return reason
    return check_document_size(size, rules.max_file_bytes)


def _has_plugin(path: str, rules: WalkRules) -> bool:
    """Return whether a plugin reads files of this name."""
    return bool(rules.readers) and path.lower().endswith(tuple(dict(rules.readers)))


def _document_reason(path: str, name: str, size: int, rules: WalkRules) -> str | None:
    """Return the reason to skip a document of a format that rootle can read, or None."""
    if name == IMAGE:
        return reason_not_recognized(path, size, rules.recognize)
    if is_owner_file(path):
        return BINARY
    if not can_read(name):
        return NEEDS_EXTRA
    return TOO_LARGE if size > _MAX_DOCUMENT_BYTES else None
