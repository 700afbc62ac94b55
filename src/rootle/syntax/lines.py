"""A text as numbered lines, and records that refer to ranges of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, count
from operator import add
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines `first` to `end` - 1, counted from 0, which become a chunk in the scope `path`."""

    first: int
    end: int
    path: tuple[str, ...] = ()


class Name(NamedTuple):
    """A defined name and its position; the column counts bytes, as in tree-sitter."""

    row: int
    column: int
    text: str


class Comment(NamedTuple):
    """A comment or docstring, on lines `first` to `end` - 1."""

    first: int
    end: int
    text: str


class Lines:
    """The lines of a text, separated by "\\n". Ranges are half open: lines `first` to `end` - 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = text.split("\n")
        # The offset of each line, followed by the offset at which another line would start.
        self.starts: list[int] = [0, *map(add, accumulate(map(len, self.rows)), count(1))]

    def __len__(self) -> int:
        return len(self.rows)

    def size(self, first: int, end: int) -> int:
        """Return the number of characters in a range of lines, without the newline at its end."""
        return self.starts[end] - self.starts[first] - 1

    def is_blank(self, row: int) -> bool:
        line = self.rows[row]
        return not line or line.isspace()

    def trim(self, first: int, end: int) -> tuple[int, int]:
        """Return the range without blank lines at its ends; `first` equals `end` if it is empty."""
        while first < end and self.is_blank(first):
            first += 1
        while first < end and self.is_blank(end - 1):
            end -= 1
        return first, end
