"""Determine which files a change, a diff or a task is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final

from rootle.errors import QueryError
from rootle.index.reader import IndexReader

# The files that are found for a task. Later ones are often not part of it.
_TASK_FILES: Final = 3
# The old and the new path before the first hunk. A removed line may also begin with "---".
_DIFF_PATHS: Final = re.compile(
    r"^--- (?:[abciow]/)?([^\t\r\n]+).*\n\+\+\+ (?:[abciow]/)?([^\t\r\n]+).*\n@@ ", re.MULTILINE
)
_RENAMED: Final = re.compile(r"^rename (?:from|to) (.+)$", re.MULTILINE)
_DIFF_START: Final = re.compile(r"^(?:diff --git |--- \S.*\n\+\+\+ )", re.MULTILINE)
_NO_FILE: Final = "/dev/null"
# A task consists of several words.
_PATH: Final = re.compile(r"\S*(?:/\S*|\.\w{1,5})")


def find_seeds(
    change: str | Sequence[str] | None,
    files: IndexReader,
    list_changed: Callable[[], Sequence[str]],
    search: Callable[[str, int], Sequence[str]],
) -> list[str]:
    """Return the paths of the changed files: of paths, a diff, a task, or the work tree."""
    if change is None:
        return list(list_changed())
    if not isinstance(change, str):
        return list(dict.fromkeys(map(_normalize, change)))
    if _DIFF_START.search(change):
        return _paths_in(change)
    path = _normalize(change.strip())
    if files.file_at(path) is not None:
        return [path]
    if _PATH.fullmatch(path):
        raise QueryError(
            f"{path} is not an indexed file; name an indexed file, or describe a task in words"
        )
    return list(search(change, _TASK_FILES))


def _paths_in(diff: str) -> list[str]:
    found = (*chain(*_DIFF_PATHS.findall(diff)), *_RENAMED.findall(diff))
    return [path for path in dict.fromkeys(found) if path != _NO_FILE]


def _normalize(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")
