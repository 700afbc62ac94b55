"""Determine which files a change, a diff or a task is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from rootle.errors import QueryError
from rootle.history.names.name_questions import looks_like_revision
from rootle.index.reader import IndexReader
from rootle.serialization.outside_text import describe_missing_history, split_package
from rootle.serialization.path_text import (
    did_you_mean,
    is_long,
    looks_like_path,
    unquote_git_path,
)
from rootle.text.file_kinds import is_in_vendor_folder
from rootle.text.similarity.similar_paths import nearest_paths
from rootle.text.terms import WORD, word_terms

# Number of search results that are used for a task. Lower results often do not concern the task.
_TASK_FILES: Final = 3
_TASK_RESULTS: Final = 10  # results among which files of the project are preferred to copies
# The old and the new path before the first hunk. A removed line may also begin with "---".
_DIFF_PATHS: Final = re.compile(
    r"^--- ([^\t\r\n]+)(?:[\t\r].*)?\n\+\+\+ ([^\t\r\n]+)(?:[\t\r].*)?\n@@ ", re.MULTILINE
)
_RENAMED: Final = re.compile(r"^rename (?:from|to) (.+)$", re.MULTILINE)
_DIFF_START: Final = re.compile(r"^(?:diff --git |--- \S.*\n\+\+\+ )", re.MULTILINE)
# The paths of a file without changed lines: its mode changed, or it is empty.
_DIFF_HEADER: Final = re.compile(r"^diff --git (.+)\n(?=(?:old|new|deleted) )", re.MULTILINE)
_NO_FILE: Final = "/dev/null"
# "a..b", "a...b", "a..", "..b"; not "../b" or "a/../b".
_RANGE: Final = re.compile(r"(?:\S*[^\s/.])?\.{2,3}(?:[^\s/.]\S*)?")
# git shows these prefixes before the old and the new path, unless it is configured otherwise.
_PREFIX: Final = re.compile(r"\A[abciow]/")


def find_seeds(
    change: str | Sequence[str] | None,
    files: IndexReader,
    list_changed: Callable[[], Sequence[str]],
    search: Callable[[str, int], Sequence[str]],
    read_paths: Callable[[str], Iterable[str]],
    list_committed: Callable[[str], Collection[str] | None],
) -> list[str]:
    """Return the files that a change is about.

    `change` is a list of paths, a diff, a commit, a range of commits, a task in words, or None for
    the changes in the work tree. `read_paths` returns the paths that a reference such as
    "src/a.py:12" may mean, and `list_committed` the paths that a commit or a range changed, or None
    for other texts. Raise QueryError for an empty change, and for a path that is not indexed or
    belongs to an installed package.
    """
    if change is None:
        return list(list_changed())
    if not isinstance(change, str):
        paths = [_find_indexed(path, files, read_paths) or _normalize(path) for path in change]
        for path in paths:
            _check_indexed(path, files)
        return list(dict.fromkeys(paths))
    if not change.strip():
        raise QueryError("the diff is empty; pass a diff with changes, a path, or a task in words")
    if _DIFF_START.search(change):
        return _paths_in(change)
    named = _find_named(change.strip(), files, read_paths, list_committed)
    return named or _choose_task_files(change, search(change, _TASK_RESULTS))


def _choose_task_files(task: str, found: Sequence[str]) -> list[str]:
    """Return the first results that a task probably changes.

    Copies of other projects are used only if the task names one of their folders, or if no other
    file was found: a task rarely changes them.
    """
    words = _terms(task)
    own = [
        path
        for path in found
        if not is_in_vendor_folder(path) or not words.isdisjoint(_terms(path.rpartition("/")[0]))
    ]
    return list(own or found)[:_TASK_FILES]


def _terms(text: str) -> set[str]:
    return {term for word in WORD.findall(text) for term in word_terms(word)}


def _find_named(
    change: str,
    files: IndexReader,
    read_paths: Callable[[str], Iterable[str]],
    list_committed: Callable[[str], Collection[str] | None],
) -> list[str]:
    """Return the file that a text names, or the files that a commit or a range changed.

    Return [] if the text is a task in words.
    """
    if is_long(change):
        if len(change.split(maxsplit=1)) == 1:
            raise QueryError(
                f"the change is one word of {len(change):,} characters; pass a diff, the path of "
                "a file, or a task in words"
            )
        return []
    indexed = _find_indexed(change, files, read_paths)
    if indexed is not None:
        return [indexed]
    is_range = _RANGE.fullmatch(change) is not None
    if is_range or (looks_like_revision(change) and len(change.split()) == 1):
        committed = list_committed(change)
        if committed:
            return sorted(committed)
        if committed is not None:
            raise QueryError(f"{change} changed no files; name another commit")
        if is_range:
            raise QueryError(
                f"{change} is neither an indexed file nor a range of commits with a common "
                "ancestor; name two commits, or describe a task in words"
            )
        raise QueryError(
            f"git has no commit {change}, or no parent of it to compare it with; name another "
            "commit, or a file"
        )
    path = _normalize(change)
    if looks_like_path(path) or _is_folder(path, files):
        _check_indexed(path, files)
        return [path]
    return []


def _find_indexed(
    text: str, files: IndexReader, read_paths: Callable[[str], Iterable[str]]
) -> str | None:
    """Return the path of the indexed file that a text names; None if it names none."""
    for path in (text, *read_paths(text)):
        plain = path.removeprefix("./")
        if files.file_at(plain) is not None:
            return plain
    return None


def _check_indexed(path: str, files: IndexReader) -> None:
    if files.file_at(path) is not None:
        return
    if split_package(path) is not None:
        raise QueryError(describe_missing_history(path))
    if _is_folder(path, files):
        raise QueryError(f"{path} is a folder; name the files in it that change")
    similar = nearest_paths(path, [state.path for state in files.all_files()])
    hint = did_you_mean(similar) or "name an indexed file, or describe a task in words"
    raise QueryError(f"{path} is not an indexed file; {hint}")


def _is_folder(path: str, files: IndexReader) -> bool:
    folder = f"{path.rstrip('/')}/"
    return any(state.path.startswith(folder) for state in files.all_files())


def _paths_in(diff: str) -> list[str]:
    pairs = [tuple(map(unquote_git_path, pair)) for pair in _DIFF_PATHS.findall(diff)]
    for header in _DIFF_HEADER.findall(diff):
        # Both paths have the same length, because only their prefixes differ.
        half = len(header) // 2
        pairs.append((unquote_git_path(header[:half]), unquote_git_path(header[half + 1 :])))
    found = [path for old, new in pairs for path in _strip_prefixes(old, new)]
    found += map(unquote_git_path, _RENAMED.findall(diff))
    return [path for path in dict.fromkeys(found) if path != _NO_FILE]


def _strip_prefixes(old: str, new: str) -> tuple[str, str]:
    """Return both paths without prefixes such as "a/" and "b/", if the prefixes are different."""
    is_one_file = _NO_FILE in (old, new)
    if is_one_file or (old[:2] != new[:2] and _PREFIX.match(old) and _PREFIX.match(new)):
        old, new = (path if path == _NO_FILE else _PREFIX.sub("", path) for path in (old, new))
    return old, new


def _normalize(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")
