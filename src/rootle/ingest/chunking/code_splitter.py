"""Source code cut at its definitions, by the outline that tree-sitter gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from tree_sitter import Node

from rootle.ingest.chunking.lines import LineRange, Lines
from rootle.ingest.chunking.outline import Outline, Unit
from rootle.ingest.chunking.split_points import PART_MAX, REST_SLACK, SplitPoints, split_at_borders

# A class up to this long stays one piece; a longer one becomes its head and its members.
SMALL_BOX: Final = 600
# Neighbours below TINY characters are joined while the sum stays within JOINED.
TINY: Final = 250
JOINED: Final = 700
# Less than this (a brace, "class A {", one import) means nothing alone: it goes to a neighbour of
# any size, and does not count for the scope.
CRUMB: Final = 60
# Deeper nesting than this is generated code: cut there without looking further in.
MAX_DEPTH: Final = 40
# Nodes of fewer bytes are not looked into for a line to cut at.
MIN_OPENED: Final = 400

_CLOSERS: Final = ("}", ")", "]", "end", "#endif", "fi", "done", "*/", "</", "?>")


def split_code(lines: Lines, outline: Outline, max_chars: int) -> list[LineRange]:
    """The parts of a source text, in order: they cover every line that is not blank."""
    cutter = _Cutter(lines, outline.above, max_chars)
    return cutter.gather_crumbs(list(cutter.cut(outline.root, (), 0)))


@dataclass(frozen=True, slots=True)
class _Cutter:
    lines: Lines
    above: dict[int, int]
    max_chars: int

    def cut(self, unit: Unit, path: tuple[str, ...], depth: int) -> Iterator[LineRange]:
        """A unit too big for one part: its members, and what stands between them."""
        members = unit.members if depth < MAX_DEPTH else []
        borders: SplitPoints | None = None
        row, run = unit.first, list[LineRange]()
        for member in members:
            if row < member.first:
                borders = borders or self._borders_if_needed(unit, row, member.first)
                run.extend(self._fill(row, member.first, path, borders))
            inner = (*path, member.title)
            if self._is_whole(member):
                run.append(LineRange(member.first, member.end, inner))
            else:
                yield from self._join(run)
                run = []
                yield from self.cut(member, inner, depth + 1)
            row = member.end
        borders = borders or self._borders_if_needed(unit, row, unit.end)
        run.extend(self._fill(row, unit.end, path, borders))
        yield from self._join(run)

    def _is_whole(self, unit: Unit) -> bool:
        size = self.lines.size(unit.first, unit.end)
        return size <= (min(SMALL_BOX, self.max_chars) if unit.is_box else self.max_chars)

    def _fill(
        self, first: int, end: int, path: tuple[str, ...], borders: SplitPoints | None
    ) -> Iterator[LineRange]:
        """The parts of a stretch without definitions."""
        first, end = self.lines.trim(first, end)
        if first == end:
            return
        if borders is None:
            yield LineRange(first, end, path)
            return
        for start, stop in split_at_borders(self.lines, first, end, borders, self.max_chars):
            yield LineRange(start, stop, path)

    def _borders_if_needed(self, unit: Unit, first: int, end: int) -> SplitPoints | None:
        if self.lines.size(first, end) <= min(PART_MAX + REST_SLACK, self.max_chars):
            return None
        return _tree_borders(unit, self.above)

    def _join(self, run: list[LineRange]) -> list[LineRange]:
        """The parts of one level with the tiny ones joined to a neighbour."""
        joined: list[LineRange] = []
        for part in run:
            if joined and self._belong_together(joined[-1], part):
                joined[-1] = self._merge(joined[-1], part)
            else:
                joined.append(part)
        return joined

    def _belong_together(self, left: LineRange, right: LineRange) -> bool:
        smaller = min(self._size(left), self._size(right))
        return smaller < TINY and self._fits(left, right, JOINED)

    def _fits(self, left: LineRange, right: LineRange, limit: int) -> bool:
        return self.lines.size(left.first, right.end) <= min(limit, self.max_chars)

    def _size(self, part: LineRange) -> int:
        return self.lines.size(part.first, part.end)

    def _merge(self, left: LineRange, right: LineRange) -> LineRange:
        if self._size(left) < CRUMB:
            path = right.path
        elif self._size(right) < CRUMB:
            path = left.path
        else:
            pairs = zip(left.path, right.path, strict=False)
            path = tuple(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return LineRange(left.first, right.end, path)

    def gather_crumbs(self, parts: list[LineRange]) -> list[LineRange]:
        """Give a closing line to the part before it, a lone opening line to the part after it."""
        kept: list[LineRange] = []
        for part in parts:
            last = kept[-1] if kept else None
            if last is not None and self._fits(last, part, self.max_chars):
                is_end = self._size(part) < CRUMB and self._closes(part)
                if is_end or (self._size(last) < CRUMB and not self._closes(last)):
                    kept[-1] = self._merge(last, part)
                    continue
            kept.append(part)
        if (
            len(kept) > 1
            and self._size(kept[-1]) < CRUMB
            and self._fits(kept[-2], kept[-1], self.max_chars)
        ):
            kept[-2:] = [self._merge(kept[-2], kept[-1])]
        return kept

    def _closes(self, part: LineRange) -> bool:
        return self.lines.rows[part.first].lstrip().startswith(_CLOSERS)


def _tree_borders(unit: Unit, above: dict[int, int]) -> SplitPoints:
    """The lines of a unit that begin a statement, with how deep it stands; members stay shut."""
    shut = {member.node.id for member in unit.members}
    depths: dict[int, int] = {member.first: 0 for member in unit.members}
    depths[max(unit.row, 0)] = 0
    level: list[Node] = [unit.node]
    for depth in range(MAX_DEPTH):
        below: list[Node] = []
        for node in level:
            for child in node.children:
                # Shallow levels come first, so that a line keeps the depth of its outermost node.
                depths.setdefault(child.start_point[0], depth)
                if child.end_byte - child.start_byte > MIN_OPENED and child.id not in shut:
                    below.append(child)
        level = below
        if not level:
            break
    # No cut between a comment and what it stands above.
    rows = sorted(row for row in depths if row - 1 not in above)
    return SplitPoints(rows, [depths[row] for row in rows])
