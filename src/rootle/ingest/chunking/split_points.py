"""Where a run of lines may be cut, and the choice among these places."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.ingest.chunking.lines import Lines

# Sizes of the parts of a function or a stretch of statements that is too big for one piece. Short
# pieces point at lines more exactly; below about 300 characters a part says too little by itself.
PART_MIN: Final = 300
PART_AIM: Final = 700
PART_MAX: Final = 900
# A rest this much longer than a part is not worth a cut of its own.
REST_SLACK: Final = 200
# What a cut costs: a level deeper, a line with no blank one before it, a size off by PART_AIM.
DEPTH_COST: Final = 0.5
NO_BLANK_COST: Final = 0.4
SIZE_COST: Final = 1.0
CLOSER_COST: Final = 2.0
# Above this a blank line inside a long comment or text is the better place.
POOR_COST: Final = 2.0

_CLOSERS: Final = ("}", ")", "]", "{", "else", "elif", "end", "fi", "done", "esac", "</", "catch")


@dataclass(frozen=True, slots=True)
class SplitPoints:
    """Lines that may begin a part, in order, and how deeply each is nested."""

    rows: list[int]
    depths: list[int]


def split_at_borders(
    lines: Lines, first: int, end: int, borders: SplitPoints, max_chars: int
) -> Iterator[tuple[int, int]]:
    """Cut a run into runs of at most max_chars; only a single line may be longer than that."""
    part_max = min(PART_MAX, max_chars)
    while lines.size(first, end) > min(part_max + REST_SLACK, max_chars):
        cut = _best_cut(lines, first, end, borders, part_max=part_max, max_chars=max_chars)
        yield first, cut
        first = cut
        while first < end and lines.is_blank(first):
            first += 1
        if first == end:
            return
    yield first, end


def _best_cut(
    lines: Lines, first: int, end: int, borders: SplitPoints, *, part_max: int, max_chars: int
) -> int:
    """The line to begin the next part with: one of low cost, else the next border, else any."""
    starts, origin = lines.starts, lines.starts[first]
    low = bisect_left(borders.rows, first + 1)
    high = bisect_left(borders.rows, end)
    near = bisect_right(starts, origin + part_max + 1, first + 1, end + 1) - 1
    best, best_cost = 0, float("inf")
    for index in range(low, bisect_right(borders.rows, near, low, high)):
        row = borders.rows[index]
        cost = _cost(lines, row, borders.depths[index], starts[row] - origin)
        if cost <= best_cost:
            best, best_cost = row, cost
    if best_cost < POOR_COST:
        return best
    blank = _after_blank(lines, first, min(near, end - 1))
    if blank is not None and lines.size(first, blank) >= PART_MIN:
        return blank
    if best:
        return best
    following = bisect_right(borders.rows, near, low, high)
    if following < high and lines.size(first, borders.rows[following]) <= max_chars:
        return borders.rows[following]
    # One statement longer than a part, with no border inside: a table, a text, a long literal.
    if lines.size(first, end) <= max_chars:
        return end
    return max(near, first + 1)


def _cost(lines: Lines, row: int, depth: int, size: int) -> float:
    off = abs(size - PART_AIM) / PART_AIM
    cost = depth * DEPTH_COST + off * SIZE_COST
    if size < PART_MIN:
        cost += 1.0
    if not lines.is_blank(row - 1):
        cost += NO_BLANK_COST
    if lines.rows[row].lstrip().startswith(_CLOSERS):
        cost += CLOSER_COST
    return cost


def _after_blank(lines: Lines, first: int, last: int) -> int | None:
    """The last line of a run that follows a blank one."""
    for row in range(last, first, -1):
        if lines.is_blank(row - 1) and not lines.is_blank(row):
            return row
    return None
