"""Read all lines that one commit changed, to find lines that it moved between files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.sources.git.command import run_git
from rootle.sources.git.lines.line_changes import LineChange, parse_changes
from rootle.sources.git.raw_diff import split_raw_diff

_BLOCK: Final = re.compile(rb"^diff --git ", re.MULTILINE)
_OPTIONS: Final = (
    *("-r", "-M", "-C", "-l200", "--raw", "-z", "-p", "-U0", "--no-ext-diff", "--no-textconv"),
    *("--no-color", "--ignore-submodules"),
)
# Maximum number of bytes of a patch. A commit with a longer patch imports or reformats whole
# folders.
_MAX_PATCH_BYTES: Final = 6_000_000


@dataclass(frozen=True, slots=True)
class ChangedText:
    """The lines that a commit changed in one file."""

    status: str  # A, C, D, M, R or T, as git names them
    old_path: str
    path: str
    changes: tuple[LineChange, ...]


def read_commit_changes(folder: str, sha: str, timeout_s: float) -> list[ChangedText]:
    """Return the changes of a commit relative to its first parent.

    Return an empty list if git fails, or if there are too many changes.
    """
    output = run_git(
        folder, "diff-tree", *_OPTIONS, f"{sha}^1", sha, "--", timeout_s=max(timeout_s, 0.1)
    )
    if output.returncode != 0 or output.timed_out or len(output.stdout) > _MAX_PATCH_BYTES:
        return []
    files, patch = split_raw_diff(output.stdout)
    starts = [found.start() for found in _BLOCK.finditer(patch)]
    if not files or len(starts) != len(files):
        return []
    ends = [*starts[1:], len(patch)]
    return [
        ChangedText(status, old, new, tuple(parse_changes(patch[start:end])))
        for (status, old, new), start, end in zip(files, starts, ends, strict=True)
    ]


def find_renamed_path(folder: str, path: str, timeout_s: float) -> str:
    """Return the path that a file has in the last commit, before a rename in the git index."""
    output = run_git(
        folder,
        *("diff-index", "--cached", "-M", "--raw", "-z", "--ignore-submodules", "HEAD", "--"),
        timeout_s=timeout_s,
    )
    files, _ = split_raw_diff(output.stdout)
    return next((old for _, old, new in files if new == path), path)


def find_change(changes: list[ChangedText], path: str) -> ChangedText | None:
    """Return the change to a file; None if the file did not change."""
    return next((change for change in changes if change.path == path), None)


def list_removals(changes: list[ChangedText], path: str) -> Iterator[tuple[str, LineChange]]:
    """Yield the lines that a commit removed from other files, with their old paths."""
    for file in changes:
        if file.path != path:
            yield from ((file.old_path, change) for change in file.changes if change.old_lines)
