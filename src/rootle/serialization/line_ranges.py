"""Format numbers of lines as text."""

from __future__ import annotations

from collections.abc import Sequence


def join_ranges(lines: Sequence[int]) -> str:
    """Return numbers in ascending order as "3, 5-7"."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], line]
        else:
            parts.append([line])
    return ", ".join("-".join(map(str, part)) for part in parts)
