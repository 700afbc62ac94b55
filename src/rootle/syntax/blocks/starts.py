"""The lines that begin a block or define a name, and the ends of these blocks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from rootle.syntax.lines import Lines

_TAB_COLUMNS: Final = 4
# A line of the same indentation that continues a block instead of ending it.
_CONTINUES: Final = re.compile(r"[{})\]]|(?:end\w*|else|elsif|elseif|fi|done|esac|then|do)\b")


class Extent(Enum):
    """The lines that belong to a block besides its first one."""

    NAME = "none: the line only defines a name"
    INDENTED = "the following lines that are indented more, and the closing line"
    SECTION = "all lines up to the next section of the same or a higher level"


@dataclass(frozen=True, slots=True)
class Start:
    """A line that begins a block or defines names."""

    row: int
    title: str
    symbols: tuple[str, ...]  # the first one is the name of the block
    extent: Extent
    level: int = 0  # of a section; 1 is the highest level
    end: re.Pattern[str] | None = None  # matches the last line, if the language marks it


def columns(line: str) -> int:
    """Return the indentation of a line in columns."""
    indent = line[: len(line) - len(line.lstrip())]
    return len(indent) + indent.count("\t") * (_TAB_COLUMNS - 1)


def find_ends(lines: Lines, starts: Sequence[Start]) -> list[int]:
    """Return the line after the end of the block of each start."""
    indents = [-1 if lines.is_blank(row) else columns(lines.rows[row]) for row in range(len(lines))]
    ends = [len(lines)] * len(starts)
    open_at: list[int] = []
    for at, start in enumerate(starts):
        if start.extent is not Extent.SECTION:
            continue
        while open_at and starts[open_at[-1]].level >= start.level:
            ends[open_at.pop()] = start.row
        open_at.append(at)
    # The indentation of each line is compared with those of the open blocks only once, so that the
    # time is linear in the length of the text.
    open_blocks: list[int] = []
    position = 0
    marked: dict[re.Pattern[str], list[int]] = {}
    for row in range(len(lines)):
        if indents[row] < 0:
            continue
        while open_blocks and _ends_before(lines, row, indents, starts[open_blocks[-1]]):
            ends[open_blocks.pop()] = row
        while position < len(starts) and starts[position].row <= row:
            if starts[position].row == row and starts[position].extent is Extent.INDENTED:
                if starts[position].end is None:
                    open_blocks.append(position)
                else:
                    ends[position] = _marked_end(lines, starts[position], marked)
            elif starts[position].extent is Extent.NAME:
                ends[position] = row + 1
            position += 1
    return [lines.trim(start.row, end)[1] for start, end in zip(starts, ends, strict=True)]


def _ends_before(lines: Lines, row: int, indents: Sequence[int], start: Start) -> bool:
    indent = indents[start.row]
    if indents[row] > indent:
        return False
    if indents[row] < indent:
        return True
    line = lines.rows[row].lstrip()
    # In YAML, the items of a list can have the same indentation as its key.
    is_item = line.startswith("- ") and not lines.rows[start.row].lstrip().startswith("-")
    return not is_item and _CONTINUES.match(line) is None


def _marked_end(lines: Lines, start: Start, marked: dict[re.Pattern[str], list[int]]) -> int:
    if start.end is None:
        return start.row + 1
    if start.end not in marked:
        rows = enumerate(lines.rows)
        marked[start.end] = [row for row, line in rows if start.end.match(line)]
    at = bisect_right(marked[start.end], start.row)
    return marked[start.end][at] + 1 if at < len(marked[start.end]) else start.row + 1
