"""Split text without known structure into windows that overlap by a few lines."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from rootle.syntax.lines import LineRange, Lines

# The maximum size of a window, including the overlap: about the size of one part of a split
# function.
WINDOW_CHARS: Final = 1_000
# A window may end before its maximum size if it is at least this full.
MIN_FILL: Final = 0.5
# A window ends before the least indented line in its last part. A line after a blank line counts as
# indented by this many columns less, and a closing line such as "}" by this many columns more.
BLANK_BONUS: Final = 6
TAB_COLUMNS: Final = 4


def split_windows(lines: Lines, max_chars: int, overlap_chars: int) -> list[LineRange]:
    """Return windows of at most max_chars in order; only a single line may be longer."""
    limit = min(WINDOW_CHARS, max_chars)
    windows: list[LineRange] = []
    first, end = lines.trim(0, len(lines))
    stop = first
    while stop < end:
        stop = _find_stop(lines, first, max(stop, first) + 1, end, limit)
        windows.append(LineRange(*lines.trim(first, stop)))
        first = max(_overlap_start(lines, stop, overlap_chars), first + 1)
        # The overlap must leave room for at least one new line that is not blank.
        new = stop
        while new < end and lines.is_blank(new):
            new += 1
        while first < stop and lines.size(first, min(new + 1, end)) > limit:
            first += 1
        first, stop = (new, new) if first == stop else (lines.trim(first, end)[0], new)
    return windows


def _find_stop(lines: Lines, first: int, min_stop: int, end: int, limit: int) -> int:
    """Return the end of the window from `first`: the least indented line in its last part."""
    if lines.size(first, end) <= limit:
        return end
    origin = lines.starts[first]
    last = max(bisect_right(lines.starts, origin + limit + 1, first, end + 1) - 1, min_stop)
    low = bisect_right(lines.starts, origin + int(limit * MIN_FILL), first, end + 1)
    best, best_cost = last, float("inf")
    for row in range(last, max(low, min_stop) - 1, -1):
        if row < end and (cost := _cost(lines, row)) < best_cost:
            best, best_cost = row, cost
    return best


def _cost(lines: Lines, row: int) -> int:
    line = lines.rows[row]
    stripped = line.lstrip()
    indent = line[: len(line) - len(stripped)]
    columns = len(indent) + indent.count("\t") * (TAB_COLUMNS - 1)
    if stripped.startswith(("}", ")", "]", "end")):
        columns += BLANK_BONUS
    return columns - (BLANK_BONUS if lines.is_blank(row - 1) else 0)


def _overlap_start(lines: Lines, stop: int, overlap_chars: int) -> int:
    """Return the first of the lines before `stop` that the next window repeats, or `stop`."""
    row = stop
    while row > 0 and lines.size(row - 1, stop) <= overlap_chars:
        row -= 1
    return row
