"""Parse patches without context lines into the lines that they replace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_HUNK: Final = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LineChange:
    """Consecutive lines of a file that a commit replaced, added or removed."""

    old_start: int  # the first old line, from 1; if there is none, the line after which it would be
    old_lines: tuple[str, ...]
    new_start: int
    new_lines: tuple[str, ...]

    @property
    def first_old(self) -> int:
        """The number of the first old line, or of the line that follows the place of the change."""
        return self.old_start if self.old_lines else self.old_start + 1

    @property
    def first_new(self) -> int:
        """The number of the first new line, or of the line that follows the place of the change."""
        return self.new_start if self.new_lines else self.new_start + 1


def parse_changes(patch: bytes) -> Iterator[LineChange]:
    """Yield the changes in the patch of one file, which was made with `-U0`."""
    found = list(_HUNK.finditer(patch))
    for at, match in enumerate(found, start=1):
        end = found[at].start() if at < len(found) else len(patch)
        text = patch[match.end() + 1 : end].decode("utf-8", "replace")
        rows = [row.removesuffix("\r") for row in text.split("\n")]
        old = tuple(row[1:] for row in rows if row.startswith("-"))
        new = tuple(row[1:] for row in rows if row.startswith("+"))
        yield LineChange(int(match[1]), old, int(match[3]), new)
