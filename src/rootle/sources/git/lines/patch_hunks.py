"""Parse patches without context lines into the lines that they replace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

# In a merge, the header of a hunk has one more "@" and one more range for each parent after the
# first.
_COMBINED_HUNK: Final = re.compile(
    rb"^(@{3,})((?: -\d+(?:,\d+)?)+) \+(\d+)(?:,(\d+))? @{3,}.*$", re.MULTILINE
)
_RANGE: Final = re.compile(rb"-(\d+)(?:,(\d+))?")
_HUNK: Final = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LineChange:
    """Consecutive lines of a file that a commit replaced, added or removed."""

    old_start: int  # the first old line, from 1; without old lines, the line before the change
    old_lines: tuple[str, ...]
    new_start: int
    new_lines: tuple[str, ...]

    @property
    def first_old(self) -> int:
        """The number of the first old line; if there is none, of the line after the change."""
        return self.old_start if self.old_lines else self.old_start + 1

    @property
    def first_new(self) -> int:
        """The number of the first new line; if there is none, of the line after the change."""
        return self.new_start if self.new_lines else self.new_start + 1


def split_hunks(patch: bytes) -> Iterator[bytes]:
    """Yield the changes in a patch of one file as patches of one change each."""
    starts = [found.start() for found in _HUNK.finditer(patch)]
    yield from (patch[start:end] for start, end in pairwise([*starts, len(patch)]))


def parse_changes(patch: bytes) -> Iterator[LineChange]:
    """Yield the changes in a patch of one file. The patch was made with `-U0`."""
    found = list(_HUNK.finditer(patch))
    for at, match in enumerate(found, start=1):
        end = found[at].start() if at < len(found) else len(patch)
        text = patch[match.end() + 1 : end].decode("utf-8", "replace")
        rows = [row.removesuffix("\r") for row in text.split("\n")]
        old = tuple(row[1:] for row in rows if row.startswith("-"))
        new = tuple(row[1:] for row in rows if row.startswith("+"))
        yield LineChange(int(match[1]), old, int(match[3]), new)


def parse_merge(patch: bytes, parents: int) -> tuple[tuple[LineChange, ...], ...]:
    """Return, for each parent of a merge, the changes from this parent to the merge in one file.

    `patch` was made with `-U0 --diff-merges=combined`. It is empty if the file is the same in the
    merge and in one of the parents.
    """
    changes: list[list[LineChange]] = [[] for _ in range(parents)]
    found = list(_COMBINED_HUNK.finditer(patch))
    for at, match in enumerate(found, start=1):
        ranges = _RANGE.findall(match[2])
        if len(ranges) != parents:
            continue
        end = found[at].start() if at < len(found) else len(patch)
        text = patch[match.end() + 1 : end].decode("utf-8", "replace")
        rows = [row.removesuffix("\r") for row in text.split("\n")]
        rows = [row for row in rows if len(row) >= parents and not row.startswith("\\")]
        new = _first_line(match[3], match[4])
        for parent, (start, count) in enumerate(ranges):
            old = _first_line(start, count)
            changes[parent] += _changes_from(parent, parents, rows, old, new)
    return tuple(map(tuple, changes))


def _first_line(start: bytes, count: bytes) -> int:
    """Return the number of the first line of a range; for an empty range, of the line after it."""
    return int(start) + (1 if count == b"0" else 0)


def _changes_from(
    parent: int, parents: int, rows: list[str], old: int, new: int
) -> Iterator[LineChange]:
    """Yield the changes from the parent whose signs are in column `parent` of the rows.

    `old` and `new` are the numbers of the first lines in the parent and in the merge.
    """
    removed: list[str] = []
    added: list[str] = []
    for row in [*rows, " " * parents]:
        sign, is_removal = row[parent], "-" in row[:parents]
        if sign == "-":
            removed.append(row[parents:])
        elif sign == "+":
            added.append(row[parents:])
        elif not is_removal:  # the line is in both the parent and the merge
            if removed or added:
                yield LineChange(
                    old if removed else old - 1,
                    tuple(removed),
                    new if added else new - 1,
                    tuple(added),
                )
            old, new = old + len(removed) + 1, new + len(added) + 1
            removed, added = [], []
