"""Choose the lines of a commit that are shown, and mark where lines are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

_CUT: Final = "…"
# The numbers of added and removed lines in the first line about a file.
_COUNTS: Final = re.compile(r" \(\+(\d{1,9}) -(\d{1,9})\)")
# If fewer characters than this are left, no part of a change is shown, unless it is the first one.
_MIN_ROOM: Final = 120


@dataclass(slots=True)
class _Change:
    """Consecutive removed and added lines, with the lines that precede them in the hunk."""

    before: list[str] = field(default_factory=list)  # a heading, and unchanged lines
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        return [*self.before, *self.removed, *self.added]


def cut_message(lines: Sequence[str], room: int, *, is_start: bool) -> list[str]:
    """Return the first lines of a message, as many as fit."""
    shown = [] if is_start else [_CUT]
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*shown, _CUT]
        shown.append(line)
    return shown


def cut_patch(lines: Sequence[str], room: int) -> list[str]:
    """Return as many lines of a file's patch as fit.

    If removed lines are shown, at least some of the lines that replace them are shown too.
    """
    is_start = bool(lines) and not lines[0].startswith(("@@", "+", "-", " "))
    found = _COUNTS.search(lines[0]) if is_start else None
    shown = [] if is_start else [_CUT]
    counts = [0, 0]
    for change in _split(lines):
        size = _size(change.lines)
        if size > room:
            if (change.removed or change.added) and (room >= _MIN_ROOM or not any(counts)):
                shown += _shorten(change, room)
            counts = [-1, -1]
            break
        room -= size
        shown += change.lines
        counts = [counts[0] + len(change.added), counts[1] + len(change.removed)]
    is_whole = found is not None and counts == [int(found[1]), int(found[2])]
    is_unread = len(lines) == 1 and is_start and found is None  # the patch is not indexed
    return shown if is_whole or is_unread or shown[-1:] == [_CUT] else [*shown, _CUT]


def _split(lines: Sequence[str]) -> Iterator[_Change]:
    """Yield the changes of a file. Unchanged lines and headings after the last one are dropped."""
    change = _Change()
    for line in lines:
        sign = line[:1]
        if sign == "-" and not change.added:
            change.removed.append(line)
        elif sign == "+":
            change.added.append(line)
        else:
            if change.removed or change.added:
                yield change
                change = _Change()
            if line.startswith("@@"):
                change.before = [line]
            elif sign == "-":
                change.removed.append(line)
            elif sign in (" ", ""):
                change.before.append(line)
            else:  # the line is about the whole file
                yield _Change([line])
    if change.removed or change.added:
        yield change


def _shorten(change: _Change, room: int) -> list[str]:
    """Return some of the removed lines and some of the added lines."""
    heading = [line for line in change.before if line.startswith("@@")]
    room -= _size(heading)
    half = room // 2
    removed, added = _size(change.removed), _size(change.added)
    shown = list(heading)
    shown += _first(change.removed, max(half, room - added), "removed")
    return shown + _first(change.added, max(half, room - removed), "added")


def _first(lines: Sequence[str], room: int, kind: str) -> list[str]:
    shown = list[str]()
    for line in lines:
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    if len(lines) - len(shown) <= 1:
        return list(lines)
    return [*shown, f"{_CUT} more {kind} lines"]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)
