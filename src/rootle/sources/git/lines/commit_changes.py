"""Read all lines that one commit changed, to find lines that it moved between files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from time import monotonic
from typing import Final

from rootle.sources.git.command import run_git
from rootle.sources.git.lines.patch_hunks import LineChange, parse_changes, split_hunks
from rootle.sources.git.raw_diff import RawChange, split_raw_diff

_BLOCK: Final = re.compile(rb"^diff --git ", re.MULTILINE)
# The changes relative to the first parent. The first commit of a repository adds all its files.
_CHANGES: Final = ("-1", "--format=", "--diff-merges=first-parent", "-r", "--raw", "-z")
_OPTIONS: Final = (
    *("--no-ext-diff", "--no-textconv", "--no-notes", "--no-decorate", "--no-show-signature"),
    *("--no-color", "--ignore-submodules", "--src-prefix=a/", "--dst-prefix=b/"),
)
PATCH: Final = ("-p", "-U0")
_CONFIG: Final = {"log.showRoot": "true", "log.follow": "false"}
# Maximum number of bytes of a patch, without the files that the commit added. A commit with a
# longer patch reformats or replaces whole folders.
_MAX_PATCH_BYTES: Final = 6_000_000
# The largest number of files for which git is asked to compare each added file with each removed
# one. If there are more, git compares only files whose names are the same.
MAX_COMPARED: Final = 200
_WORD: Final = re.compile(rb"\w+")
# The maximum number of lines removed from other files that are compared with the added lines. If a
# commit removed more, those with the most words in common with the added lines are compared.
_MAX_REMOVED_LINES: Final = 20_000


def read_removals(
    folder: str, sha: str, path: str, added: Iterable[str], timeout_s: float
) -> list[tuple[str, LineChange]] | None:
    """Return the lines that a commit removed from files other than `path`, by the files' old paths.

    The changes are relative to the first parent. Only changes that have a word in common with the
    lines `added` are returned, those with the most words in common first. Return None if git failed
    or was too slow, or if the commit changed too much.
    """
    options = (*PATCH, "-M", f"-l{MAX_COMPARED}", "--diff-filter=a")
    data = read_commit(folder, sha, options, monotonic() + timeout_s)
    if data is None or len(data) > _MAX_PATCH_BYTES:
        return None
    wanted = frozenset(word for line in added for word in _WORD.findall(line.encode()))
    rated = [
        (len(wanted.intersection(_WORD.findall(hunk))), file.old_path, hunk)
        for file, patch in pair_patches(data)
        if file.path != path
        for hunk in split_hunks(patch)
    ]
    rated = sorted((one for one in rated if one[0]), key=lambda one: -one[0])
    found: list[tuple[str, LineChange]] = []
    count = 0
    for _, old_path, hunk in rated:
        for change in parse_changes(hunk):
            count += len(change.old_lines)
            if change.old_lines and (count <= _MAX_REMOVED_LINES or not found):
                found.append((old_path, change))
    return found


def read_commit(
    folder: str, sha: str, options: Sequence[str], deadline_s: float, *paths: str
) -> bytes | None:
    """Return the output of `git log --raw -z` for a commit; None if git failed or was too slow."""
    output = run_git(
        folder,
        *("log", *_CHANGES, *_OPTIONS, *options, sha, "--"),
        *(f":(top,literal){one}" for one in paths),
        timeout_s=max(deadline_s - monotonic(), 0.1),
        config=_CONFIG,
    )
    return None if output.returncode != 0 or output.timed_out else output.stdout


def pair_patches(data: bytes) -> Iterator[tuple[RawChange, bytes]]:
    """Yield each changed file with its patch."""
    files, patch = split_raw_diff(data)
    starts = [found.start() for found in _BLOCK.finditer(patch)]
    if len(starts) == len(files):
        for file, (start, end) in zip(files, pairwise([*starts, len(patch)]), strict=True):
            yield file, patch[start:end]
