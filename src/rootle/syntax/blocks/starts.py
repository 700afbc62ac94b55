"""The lines that begin a block or define a name, and the ends of these blocks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import Final

from rootle.syntax.blocks.passive_lines import PassiveLines
from rootle.syntax.lines import Lines

_TAB_COLUMNS: Final = 4
# A line of the same indentation that continues a block instead of ending it.
_BRACKET: Final = re.compile(r"[{})\]]")
_CONTINUES: Final = re.compile(
    r"[{})\]]|(?:end\w*|else|elsif|elseif|fi|done|esac|then|do)\b(?![ \t]*[:=(]|-)"
)
# In these languages, such a word is a name, or a block does not end with it.
_WITHOUT_END_WORDS: Final = frozenset({"devicetree", "make", "nix", "scss", "terraform", "yaml"})
_MAX_LINES_BACK: Final = 60  # over the comments between two blocks


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


def find_ends(
    lines: Lines, starts: Sequence[Start], language: str, passive: PassiveLines
) -> list[int]:
    """Return the line after the end of the block of each start.

    The comments between two blocks do not belong to the first one.
    """
    is_start = {start.row for start in starts}
    indents = [
        -1
        if lines.is_blank(row) or (row not in is_start and row in passive)
        else columns(lines.rows[row])
        for row in range(len(lines))
    ]
    ends = [len(lines)] * len(starts)
    open_at: list[int] = []
    for at, start in enumerate(starts):
        if start.extent is not Extent.SECTION:
            continue
        end = _skip_comments_back(lines, passive, start.row)
        while open_at and starts[open_at[-1]].level >= start.level:
            above = open_at.pop()
            ends[above] = max(end, starts[above].row + 1)
        open_at.append(at)
    continues = _BRACKET if language in _WITHOUT_END_WORDS else _CONTINUES
    # The indentation of each line is compared with those of the open blocks only once, so that the
    # time is linear in the length of the text.
    open_blocks: list[int] = []
    position = 0
    marked: dict[re.Pattern[str], list[int]] = {}
    for row in range(len(lines)):
        if indents[row] < 0:
            continue
        while open_blocks:
            start = starts[open_blocks[-1]]
            if not _ends_before(lines, row, indents, start, continues, is_start):
                break
            ends[open_blocks.pop()] = _skip_outer_notes_back(lines, passive, row, start)
        while position < len(starts) and starts[position].row <= row:
            if starts[position].row == row and starts[position].extent is Extent.INDENTED:
                if starts[position].end is None:
                    open_blocks.append(position)
                else:
                    ends[position] = _marked_end(lines, starts[position], marked)
            elif starts[position].extent is Extent.NAME:
                ends[position] = row + 1
            position += 1
    for at in open_blocks:
        ends[at] = _skip_outer_notes_back(lines, passive, len(lines), starts[at])
    return [lines.trim(start.row, end)[1] for start, end in zip(starts, ends, strict=True)]


def _skip_comments_back(lines: Lines, passive: PassiveLines, row: int) -> int:
    """Return the first of the comments directly above a line."""
    lowest = max(0, row - _MAX_LINES_BACK)
    while row > lowest and not lines.is_blank(row - 1) and passive.is_comment(row - 1):
        row -= 1
    return row


def _skip_outer_notes_back(lines: Lines, passive: PassiveLines, row: int, start: Start) -> int:
    """Return the first of the comments and directives above a line that are not inside a block."""
    lowest = max(start.row + 1, row - _MAX_LINES_BACK)
    indent = columns(lines.rows[start.row])
    while row > lowest and (
        lines.is_blank(row - 1)
        or (passive.is_note(row - 1) and columns(lines.rows[row - 1]) <= indent)
    ):
        row -= 1
    return row


def _ends_before(
    lines: Lines,
    row: int,
    indents: Sequence[int],
    start: Start,
    continues: re.Pattern[str],
    is_start: Set[int],
) -> bool:
    indent = indents[start.row]
    if indents[row] != indent:
        return indents[row] < indent
    line = lines.rows[row].lstrip()
    # In YAML, the items of a list can have the same indentation as its key.
    if line.startswith("- ") and not lines.rows[start.row].lstrip().startswith("-"):
        return False
    return row in is_start or continues.match(line) is None


def _marked_end(lines: Lines, start: Start, marked: dict[re.Pattern[str], list[int]]) -> int:
    if start.end is None:
        return start.row + 1
    if start.end not in marked:
        rows = enumerate(lines.rows)
        marked[start.end] = [row for row, line in rows if start.end.match(line)]
    at = bisect_right(marked[start.end], start.row)
    return marked[start.end][at] + 1 if at < len(marked[start.end]) else start.row + 1
