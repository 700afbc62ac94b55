"""Split source code at its definitions, and other languages at their blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from tree_sitter import Node

from rootle.ingest.chunking.split_points import PART_MAX, REST_SLACK, SplitPoints, split_at_points
from rootle.syntax.blocks.block import Block
from rootle.syntax.blocks.starts import columns
from rootle.syntax.lines import LineRange, Lines
from rootle.syntax.symbol_outline import Outline, Unit

# A class of up to this many characters stays whole; a larger one is split into its head and its
# members.
SMALL_BOX: Final = 600
# A range below TINY characters is joined with an adjacent range if both together have at most
# JOINED characters.
TINY: Final = 250
JOINED: Final = 700
# A range below FRAGMENT characters (a brace, "class A {", one import) is not informative on its
# own: it is joined with an adjacent range of any size.
FRAGMENT: Final = 60
# The maximum nesting depth. More deeply nested code is probably generated, and its structure is
# ignored.
MAX_DEPTH: Final = 40
# Syntax nodes with fewer bytes are not searched for split points.
MIN_OPENED_BYTES: Final = 400

_CLOSERS: Final = ("}", ")", "]", "end", "#endif", "fi", "done", "*/", "</", "?>")


def split_code(
    lines: Lines, outline: Outline, max_chars: int, overlap_chars: int = 0
) -> list[LineRange]:
    """Return line ranges, in order, that cover every line that is not blank.

    The parts of a definition that is too long for one range overlap by up to overlap_chars.
    """

    def find_points(block: Block) -> SplitPoints:
        unit = block if isinstance(block, Unit) else outline.root
        return _find_split_points(unit, outline.above)

    splitter = _CodeSplitter(lines, find_points, max_chars, overlap_chars)
    return splitter.merge_fragments(list(splitter.split(outline.root, (), 0)))


def split_blocks(
    lines: Lines, root: Block, max_chars: int, overlap_chars: int = 0
) -> list[LineRange]:
    """Return line ranges like `split_code`, for a text whose blocks are known but not its syntax.

    Long blocks are split at the lines that are indented least.
    """
    splitter = _CodeSplitter(
        lines, lambda block: _find_least_indented(lines, block), max_chars, overlap_chars
    )
    return splitter.merge_fragments(list(splitter.split(root, (), 0)))


@dataclass(frozen=True, slots=True)
class _CodeSplitter:
    lines: Lines
    find_points: Callable[[Block], SplitPoints]
    max_chars: int
    overlap_chars: int

    def split(self, unit: Block, path: tuple[str, ...], depth: int) -> Iterator[LineRange]:
        """Split a unit into its members and the lines between them."""
        members = unit.members if depth < MAX_DEPTH else ()
        points: SplitPoints | None = None
        row, pending = unit.first, list[LineRange]()
        for member in members:
            if row < member.first:
                points = points or self._points_if_needed(unit, row, member.first)
                pending.extend(self._split_lines(row, member.first, path, points))
            inner = (*path, member.title)
            if self._fits_whole(member):
                pending.append(LineRange(member.first, member.end, inner))
            else:
                yield from self._join(pending)
                pending = []
                yield from self.split(member, inner, depth + 1)
            row = member.end
        points = points or self._points_if_needed(unit, row, unit.end)
        pending.extend(self._split_lines(row, unit.end, path, points))
        yield from self._join(pending)

    def _fits_whole(self, unit: Block) -> bool:
        size = self.lines.size(unit.first, unit.end)
        return size <= (min(SMALL_BOX, self.max_chars) if unit.is_box else self.max_chars)

    def _split_lines(
        self, first: int, end: int, path: tuple[str, ...], points: SplitPoints | None
    ) -> Iterator[LineRange]:
        """Split lines without definitions."""
        first, end = self.lines.trim(first, end)
        if first == end:
            return
        if points is None:
            yield LineRange(first, end, path)
            return
        parts = split_at_points(
            self.lines, first, end, points, self.max_chars, overlap_chars=self.overlap_chars
        )
        for start, stop in parts:
            yield LineRange(start, stop, path)

    def _points_if_needed(self, unit: Block, first: int, end: int) -> SplitPoints | None:
        if self.lines.size(first, end) <= min(PART_MAX + REST_SLACK, self.max_chars):
            return None
        return self.find_points(unit)

    def _join(self, ranges: list[LineRange]) -> list[LineRange]:
        """Join each tiny range of one level with an adjacent range."""
        joined: list[LineRange] = []
        for line_range in ranges:
            if joined and self._should_join(joined[-1], line_range):
                joined[-1] = self._merge(joined[-1], line_range)
            else:
                joined.append(line_range)
        return joined

    def _should_join(self, left: LineRange, right: LineRange) -> bool:
        smaller = min(self._size(left), self._size(right))
        return smaller < TINY and self._fits(left, right, JOINED)

    def _fits(self, left: LineRange, right: LineRange, limit: int) -> bool:
        return self.lines.size(left.first, right.end) <= min(limit, self.max_chars)

    def _size(self, line_range: LineRange) -> int:
        return self.lines.size(line_range.first, line_range.end)

    def _merge(self, left: LineRange, right: LineRange) -> LineRange:
        pairs = zip(left.path, right.path, strict=False)
        path = tuple(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        # A fragment does not affect the scope, unless it is a short definition of its own.
        if path == left.path and self._size(left) < FRAGMENT:
            path = right.path
        elif path == right.path and self._size(right) < FRAGMENT:
            path = left.path
        return LineRange(left.first, right.end, path)

    def merge_fragments(self, ranges: list[LineRange]) -> list[LineRange]:
        """Join a closing line with the range before it, and a lone opening line with the next."""
        kept: list[LineRange] = []
        for line_range in ranges:
            last = kept[-1] if kept else None
            if last is not None and self._fits(last, line_range, self.max_chars):
                is_end = self._size(line_range) < FRAGMENT and self._closes(line_range)
                if is_end or (self._size(last) < FRAGMENT and not self._closes(last)):
                    kept[-1] = self._merge(last, line_range)
                    continue
            kept.append(line_range)
        if (
            len(kept) > 1
            and self._size(kept[-1]) < FRAGMENT
            and self._fits(kept[-2], kept[-1], self.max_chars)
        ):
            kept[-2:] = [self._merge(kept[-2], kept[-1])]
        return kept

    def _closes(self, line_range: LineRange) -> bool:
        return self.lines.rows[line_range.first].lstrip().startswith(_CLOSERS)


def _find_split_points(unit: Unit, above: dict[int, int]) -> SplitPoints:
    """Return the lines of a unit that begin a statement, except those inside its members."""
    closed = {member.node.id for member in unit.members}
    depths: dict[int, int] = {member.first: 0 for member in unit.members}
    depths[max(unit.row, 0)] = 0
    level: list[Node] = [unit.node]
    for depth in range(MAX_DEPTH):
        below: list[Node] = []
        for node in level:
            for child in node.children:
                # Shallow levels come first, so that a line keeps the depth of its outermost node.
                depths.setdefault(child.start_point[0], depth)
                size = child.end_byte - child.start_byte
                if size > MIN_OPENED_BYTES and child.id not in closed:
                    below.append(child)
        level = below
        if not level:
            break
    # Do not split between a comment and the statement below it.
    rows = sorted(row for row in depths if row - 1 not in above)
    return SplitPoints(rows, [depths[row] for row in rows])


def _find_least_indented(lines: Lines, block: Block) -> SplitPoints:
    """Return the lines of a block, with the rank of their indentation as their depth."""
    rows = [row for row in range(max(block.first, 0), block.end) if not lines.is_blank(row)]
    indents = [columns(lines.rows[row]) for row in rows]
    ranks = {indent: rank for rank, indent in enumerate(sorted(set(indents)))}
    return SplitPoints(rows, [ranks[indent] for indent in indents])
