"""A named range of lines with the named ranges inside it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from rootle.syntax.lines import Name

_SEPARATOR: Final = re.compile(r"[.:]+")


def split_owners(name: str) -> tuple[tuple[str, ...], str]:
    """Return the qualifiers and the last part of a name, such as "sec" and "intro" of sec:intro."""
    *owners, last = [part for part in _SEPARATOR.split(name) if part] or [name]
    return tuple(owners), last


@dataclass(slots=True)
class Block:
    """A definition on lines `first` to `end` - 1. `row` is its first line below its comments."""

    title: str  # "resource aws_sqs_queue.this"; "" for a whole text
    symbol: str
    is_box: bool  # whether it is split into its head and its members if it is not small
    row: int
    end: int
    first: int
    members: Sequence[Block]  # in order; they do not overlap


@dataclass(frozen=True, slots=True)
class BlockOutline:
    """The blocks of a text, and the names that it defines in the order of the text.

    The names are qualified, as in `define "app.fullname"`; the symbol of a block is the last part.
    """

    root: Block
    names: Sequence[Name]

    def symbols(self) -> list[Name]:
        """Return the last parts of the names."""
        return [name._replace(text=split_owners(name.text)[1]) for name in self.names]

    def blocks_at(self, row: int) -> tuple[Block, ...]:
        """Return the blocks that contain a line, outermost first."""
        return tuple(_list_around(self.root, row))


def _list_around(block: Block, row: int) -> Iterator[Block]:
    while (at := bisect_right(block.members, row, key=attrgetter("first"))) > 0:
        block = block.members[at - 1]
        if row >= block.end:
            return
        yield block
