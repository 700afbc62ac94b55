"""Determine which files a change, a diff or a task is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final

from rootle.errors import QueryError
from rootle.index.reader import IndexReader
from rootle.serialization.outside_text import describe_missing_history, split_package

# The files that are found for a task. Later ones are often not part of it.
_TASK_FILES: Final = 3
# The old and the new path before the first hunk. A removed line may also begin with "---".
_DIFF_PATHS: Final = re.compile(r"^--- ([^\t\r\n]+).*\n\+\+\+ ([^\t\r\n]+).*\n@@ ", re.MULTILINE)
_RENAMED: Final = re.compile(r"^rename (?:from|to) (.+)$", re.MULTILINE)
_DIFF_START: Final = re.compile(r"^(?:diff --git |--- \S.*\n\+\+\+ )", re.MULTILINE)
_NO_FILE: Final = "/dev/null"
_PREFIX: Final = re.compile(r"\A[abciow]/")
# In a quoted path, git writes some characters as in C, and bytes that are not ASCII as octal.
_ESCAPE: Final = re.compile(r"\\([0-7]{3}|.)")
_CONTROLS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# A task consists of several words.
_PATH: Final = re.compile(r"\S*(?:/\S*|\.\w{1,5})")


def find_seeds(
    change: str | Sequence[str] | None,
    files: IndexReader,
    list_changed: Callable[[], Sequence[str]],
    search: Callable[[str, int], Sequence[str]],
) -> list[str]:
    """Return the files that a change is about: paths, a diff, a task, or None for the work tree.

    Raise QueryError for a path that is not indexed or belongs to an installed package.
    """
    if change is None:
        return list(list_changed())
    if not isinstance(change, str):
        paths = list(dict.fromkeys(map(_normalize, change)))
        for path in paths:
            _check_not_package(path)
        return paths
    if _DIFF_START.search(change):
        return _paths_in(change)
    path = _normalize(change.strip())
    if files.file_at(path) is not None:
        return [path]
    if _PATH.fullmatch(path):
        _check_not_package(path)
        raise QueryError(
            f"{path} is not an indexed file; name an indexed file, or describe a task in words"
        )
    return list(search(change, _TASK_FILES))


def _check_not_package(path: str) -> None:
    if split_package(path) is not None:
        raise QueryError(describe_missing_history(path))


def _paths_in(diff: str) -> list[str]:
    paths = map(_unquote, chain(*_DIFF_PATHS.findall(diff)))
    plain = [path if path == _NO_FILE else _PREFIX.sub("", path, count=1) for path in paths]
    found = (*plain, *map(_unquote, _RENAMED.findall(diff)))
    return [path for path in dict.fromkeys(found) if path != _NO_FILE]


def _unquote(path: str) -> str:
    """Return a path without the quotes and escapes of git."""
    path = path.rstrip()
    if len(path) < 2 or not (path[0] == path[-1] == '"'):
        return path

    def decode(match: re.Match[str]) -> str:
        char = match[1]
        return chr(int(char, 8) & 0xFF) if len(char) == 3 else _CONTROLS.get(char, char)

    if path.isascii():
        # Each octal escape is one byte of UTF-8.
        decoded = _ESCAPE.sub(decode, path[1:-1]).encode("latin-1")
        return decoded.decode("utf-8", "surrogateescape")
    return path[1:-1]


def _normalize(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")
