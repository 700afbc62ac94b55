"""Choose the best lines at which to split a range."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.syntax.lines import Lines

# A function or a run of statements that is too large for one chunk is split into parts of these
# sizes, in characters. Short parts locate lines more precisely; below about 300 characters, a part
# alone is not informative.
PART_MIN: Final = 300
PART_AIM: Final = 700
PART_MAX: Final = 900
# A range that exceeds PART_MAX by at most this much is not split.
REST_SLACK: Final = 200
# The cost of a split is the sum of these costs.
DEPTH_COST: Final = 0.5  # for each level of nesting
NO_BLANK_COST: Final = 0.4  # if no blank line precedes the split
SIZE_COST: Final = 1.0  # times the relative deviation of the part's size from PART_AIM
SHORT_COST: Final = 1.0  # if the part is smaller than PART_MIN
CLOSER_COST: Final = 2.0  # if the next part begins with a closing line, such as "}"
# If no split point costs less, a blank line, for example inside a long comment, is preferred.
POOR_COST: Final = 2.0

_CLOSERS: Final = ("}", ")", "]", "{", "else", "elif", "end", "fi", "done", "esac", "</", "catch")


@dataclass(frozen=True, slots=True)
class SplitPoints:
    """Lines that may begin a part, in order, with their nesting depths."""

    rows: list[int]
    depths: list[int]


def split_at_points(
    lines: Lines,
    first: int,
    end: int,
    points: SplitPoints,
    max_chars: int,
    *,
    overlap_chars: int = 0,
) -> Iterator[tuple[int, int]]:
    """Split a range into ranges of at most max_chars; only a single line may be longer.

    Each range repeats the last lines of the previous one, up to overlap_chars characters.
    """
    room = max_chars - min(overlap_chars, max_chars // 2)
    previous = first - 1
    for start, stop in _split(lines, first, end, points, room):
        row = start
        while (
            row > previous + 1
            and lines.size(row - 1, start) <= overlap_chars
            and lines.size(row - 1, stop) <= max_chars
        ):
            row -= 1
        previous, _ = lines.trim(row, stop)
        yield previous, stop


def _split(
    lines: Lines, first: int, end: int, points: SplitPoints, max_chars: int
) -> Iterator[tuple[int, int]]:
    part_max = min(PART_MAX, max_chars)
    while lines.size(first, end) > min(part_max + REST_SLACK, max_chars):
        split = _best_split(lines, first, end, points, part_max=part_max, max_chars=max_chars)
        yield first, split
        first = split
        while first < end and lines.is_blank(first):
            first += 1
        if first == end:
            return
    yield first, end


def _best_split(
    lines: Lines, first: int, end: int, points: SplitPoints, *, part_max: int, max_chars: int
) -> int:
    """Return the first line of the next part, preferably a split point with a low cost."""
    starts, origin = lines.starts, lines.starts[first]
    low = bisect_left(points.rows, first + 1)
    high = bisect_left(points.rows, end)
    near = bisect_right(starts, origin + part_max + 1, first + 1, end + 1) - 1
    best, best_cost = 0, float("inf")
    for index in range(low, bisect_right(points.rows, near, low, high)):
        row = points.rows[index]
        cost = _cost(lines, row, points.depths[index], starts[row] - origin)
        if cost <= best_cost:
            best, best_cost = row, cost
    if best_cost < POOR_COST:
        return best
    blank = _last_after_blank(lines, first, min(near, end - 1))
    if blank is not None and lines.size(first, blank) >= PART_MIN:
        return blank
    if best:
        return best
    following = bisect_right(points.rows, near, low, high)
    if following < high and lines.size(first, points.rows[following]) <= max_chars:
        return points.rows[following]
    # A long statement without a split point, such as a table or a long literal.
    if lines.size(first, end) <= max_chars:
        return end
    return max(near, first + 1)


def _cost(lines: Lines, row: int, depth: int, size: int) -> float:
    cost = depth * DEPTH_COST + abs(size - PART_AIM) / PART_AIM * SIZE_COST
    if size < PART_MIN:
        cost += SHORT_COST
    if not lines.is_blank(row - 1):
        cost += NO_BLANK_COST
    if lines.rows[row].lstrip().startswith(_CLOSERS):
        cost += CLOSER_COST
    return cost


def _last_after_blank(lines: Lines, first: int, last: int) -> int | None:
    """Return the last line between `first` and `last` that follows a blank line; None if none."""
    for row in range(last, first, -1):
        if lines.is_blank(row - 1) and not lines.is_blank(row):
            return row
    return None
