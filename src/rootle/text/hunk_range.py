"""Extend a range of lines of a patch, so that it does not begin or end inside a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_MAX_LINES: Final = 60  # the maximum number of lines of a search result
_MAX_LINES_BEFORE: Final = 12


def extend_range(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Extend a range of lines so that it contains whole hunks, if they are short enough.

    `lines` are the change of one file: a description, and hunks that begin with "@@". Ranges are
    inclusive and count from 0.
    """
    starts = [at for at, line in enumerate(lines) if line.startswith("@@")]
    begin = max((at for at in starts if at <= first), default=0)
    if first - begin <= _MAX_LINES_BEFORE:
        first = begin
    else:
        run = first
        while run > begin and _is_change(lines[run]) and _is_change(lines[run - 1]):
            run -= 1
        # The range may begin at any added line, unless added lines replace removed lines.
        if lines[run].startswith("-") and first - run <= _MAX_LINES_BEFORE:
            first = run
    if starts and first == starts[0]:
        first = 0
    end = min((at for at in starts if at > last), default=len(lines)) - 1
    return first, max(last, min(end, first + _MAX_LINES - 1))


def _is_change(line: str) -> bool:
    return line[:1] in ("+", "-")
