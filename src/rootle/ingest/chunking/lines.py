"""A text as numbered lines, and what is said about runs of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, count
from operator import add
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class LineRange:
    """A run of lines to become a piece, and its place: lines first to end - 1, counted from 0."""

    first: int
    end: int
    path: tuple[str, ...] = ()


class Name(NamedTuple):
    """A defined name and where it stands; the column counts bytes, as tree-sitter does."""

    row: int
    column: int
    text: str


class Comment(NamedTuple):
    """A comment or docstring, on lines first to end - 1."""

    first: int
    end: int
    text: str


class Lines:
    """The lines of a text; only "\\n" ends one. Runs are half open: lines first to end - 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = text.split("\n")
        # One entry more than there are lines: where a line after the last would start.
        self.starts: list[int] = [0, *map(add, accumulate(map(len, self.rows)), count(1))]

    def __len__(self) -> int:
        return len(self.rows)

    def size(self, first: int, end: int) -> int:
        """Characters of a run, without the newline at its end."""
        return self.starts[end] - self.starts[first] - 1

    def is_blank(self, row: int) -> bool:
        line = self.rows[row]
        return not line or line.isspace()

    def trim(self, first: int, end: int) -> tuple[int, int]:
        """The run without the blank lines at its edges; first == end when nothing is left."""
        while first < end and self.is_blank(first):
            first += 1
        while first < end and self.is_blank(end - 1):
            end -= 1
        return first, end
