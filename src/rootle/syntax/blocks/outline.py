"""The blocks of a text as a tree, for languages without a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rootle.syntax.blocks.block import Block, BlockOutline, split_owners
from rootle.syntax.blocks.line_rules import has_rules, list_matches
from rootle.syntax.blocks.passive_lines import PassiveLines
from rootle.syntax.blocks.starts import Extent, Start, columns, find_ends
from rootle.syntax.blocks.yaml_keys import OPERATION_ID, list_keys, list_operations
from rootle.syntax.lines import Lines, Name

_JSON: Final = "json"
_YAML: Final = "yaml"
# Longer texts and texts with more blocks are data, such as generated tables.
_MAX_CHARS: Final = 2_000_000
_MAX_BLOCKS: Final = 20_000
_MAX_TITLE: Final = 80
_MAX_LINES_ABOVE: Final = 60
_MAX_NESTED: Final = 40  # blocks around a block; more deeply nested ones are data


def has_blocks(language: str) -> bool:
    """Return whether blocks are found in texts of a language."""
    return language == _YAML or has_rules(language)


def has_names(language: str) -> bool:
    """Return whether texts of a language have blocks, or names outside of blocks."""
    return language == _JSON or has_blocks(language)


def read_blocks(lines: Lines, language: str) -> BlockOutline | None:
    """Return the blocks and names of a text, or None if there are none."""
    if not has_names(language) or len(lines.text) > _MAX_CHARS:
        return None
    passive = PassiveLines(lines, language)
    if language == _JSON:
        starts = list_operations(lines) if OPERATION_ID in lines.text else []
    elif language == _YAML:
        starts = list_keys(lines)
    else:
        starts = list_matches(lines, language, passive)
    if not starts or len(starts) > _MAX_BLOCKS:
        return None
    root = _nest(lines, starts, find_ends(lines, starts, language, passive), passive)
    names = [Name(start.row, 0, symbol) for start in starts for symbol in start.symbols]
    return BlockOutline(root, names)


def _nest(
    lines: Lines, starts: Sequence[Start], ends: Sequence[int], passive: PassiveLines
) -> Block:
    members: list[Block] = []
    root = Block("", "", True, row=-1, end=len(lines), first=0, members=members)
    around = [(root, members)]
    last = 0  # the line after the previous start or the previous block
    for start, end in zip(starts, ends, strict=True):
        while len(around) > 1 and around[-1][0].end <= start.row:
            last = max(last, around.pop()[0].end)
        if start.extent is not Extent.NAME and start.title and len(around) <= _MAX_NESTED:
            outer, siblings = around[-1]
            members = []
            block = Block(
                start.title[:_MAX_TITLE],
                split_owners(start.symbols[0])[1] if start.symbols else "",
                False,
                row=start.row,
                end=min(end, outer.end),
                first=_skip_comments_above(lines, passive, start.row, max(last, outer.row + 1)),
                members=members,
            )
            siblings.append(block)
            outer.is_box = True
            around.append((block, members))
        last = max(last, start.row + 1)
    return root


def _skip_comments_above(lines: Lines, passive: PassiveLines, row: int, lowest: int) -> int:
    """Return the first line of the comments above a block of the same indentation.

    A blank line can separate them from the block, and from each other.
    """
    lowest = max(lowest, row - _MAX_LINES_ABOVE)
    indent = columns(lines.rows[row])
    first = at = row
    while at > lowest:
        at -= 1
        if lines.is_blank(at):
            if at + 1 < row and lines.is_blank(at + 1):
                break
        elif columns(lines.rows[at]) >= indent and passive.is_comment(at):
            first = at
        else:
            break
    return first
