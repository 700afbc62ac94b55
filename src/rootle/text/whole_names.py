"""Find whole names in a text, and the line numbers of positions."""

from __future__ import annotations

import re
from collections.abc import Iterable


def name_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for a name that is not a part of a longer name."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def line_numbers(text: str, offsets: Iterable[int]) -> list[int]:
    """Return the line of each offset, from 1. The offsets must be in ascending order."""
    numbers, number, last = [], 1, 0
    for offset in offsets:
        number += text.count("\n", last, offset)
        last = offset
        numbers.append(number)
    return numbers
