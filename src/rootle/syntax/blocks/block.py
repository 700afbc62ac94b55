"""A named range of lines with the named ranges inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rootle.syntax.lines import Name


@dataclass(slots=True)
class Block:
    """A definition on lines `first` to `end` - 1. `row` is its first line below its comments."""

    title: str  # "resource aws_sqs_queue.this"; "" for a whole text
    symbol: str
    is_box: bool  # whether it is split into its head and its members if it is not small
    row: int
    end: int
    first: int
    members: Sequence[Block]


@dataclass(frozen=True, slots=True)
class BlockOutline:
    """The blocks of a text, and the names that it defines in the order of the text."""

    root: Block
    names: Sequence[Name]

    def blocks_at(self, row: int) -> tuple[Block, ...]:
        """Return the blocks that contain a line, outermost first."""
        return tuple(_list_around(self.root, row))


def _list_around(block: Block, row: int) -> Iterator[Block]:
    for member in block.members:
        if member.first <= row < member.end:
            yield member
            yield from _list_around(member, row)
