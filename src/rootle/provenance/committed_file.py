"""Find the last committed version of a file, and the place of its current lines in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.lines.commit_facts import read_committed
from rootle.sources.git.lines.patch_hunks import LineChange
from rootle.sources.git.lines.renames import find_renamed_path
from rootle.sources.git.repository import head_commit

_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file in the last commit."""

    top: str  # the top of the work tree
    head: str
    path: str  # relative to the top
    raw: bytes


def find_committed(file: str) -> CommittedFile | None:
    """Return a file in the last commit, possibly under its old name; None if the file is new."""
    top = find_work_tree(os.path.dirname(file))
    head = None if top is None else head_commit(Path(top))
    if top is None or head is None:
        return None
    path = os.path.relpath(file, top).replace(os.sep, "/")
    raw = read_committed(top, head, path)
    if raw is None:
        path = find_renamed_path(top, path, _TIMEOUT_S)
        raw = read_committed(top, head, path)
    return None if raw is None else CommittedFile(top, head, path, raw)


def find_old_range(
    changes: Sequence[LineChange], first_line: int, last_line: int
) -> tuple[int, int] | None:
    """Return the first and the last old line that a range of new lines contains or replaces.

    `changes` are in the order of the lines. Return None if all lines of the range are new.
    """
    found = list(_list_old_lines(changes, first_line, last_line))
    return (min(found), max(found)) if found else None


def _list_old_lines(
    changes: Sequence[LineChange], first_line: int, last_line: int
) -> Iterator[int]:
    new, old = 1, 1  # the first lines after the previous change
    for change in changes:
        yield from _list_kept(new, change.first_new, old - new, first_line, last_line)
        new = change.first_new + len(change.new_lines)
        old = change.first_old + len(change.old_lines)
        is_inside = change.first_new <= last_line and new > first_line
        if change.old_lines and is_inside and change.new_lines:
            yield from (change.first_old, old - 1)
    yield from _list_kept(new, last_line + 1, old - new, first_line, last_line)


def _list_kept(start: int, end: int, shift: int, first_line: int, last_line: int) -> Iterator[int]:
    """Yield the old numbers of the first and the last unchanged line in a range.

    The lines from `start` to `end` - 1 are unchanged.
    """
    first, last = max(start, first_line), min(end - 1, last_line)
    if first <= last:
        yield from (first + shift, last + shift)
