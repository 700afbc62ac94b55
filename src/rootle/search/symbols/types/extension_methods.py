"""Read the type that an extension method of C# belongs to."""

from __future__ import annotations

import re
from typing import Final

_MAX_HEAD: Final = 400  # characters from the start of the line to the type of the first parameter


def extended_type(text: str, start: int, name: str) -> str:
    """Return the type that the method in a line of C# extends; "" if it is no extension method.

    `start` is the offset of the line. For `static int Count(this Cart cart)`, the type is Cart. A
    type parameter, as in `(this T value)`, does not count as a type.
    """
    word = re.escape(name)
    head = re.compile(
        rf"[^\n;{{]{{0,300}}?\b{word}\s{{0,20}}(?:<[\w\s,]{{0,100}}>)?\s{{0,20}}\(\s{{0,80}}"
        rf"(?:\[[^\]\n]{{0,100}}\]\s{{0,20}})?this\s{{1,20}}(?:(?:ref|in|readonly)\s{{1,20}})*"
        rf"(?:\w+\.){{0,9}}([A-Za-z_]\w+)"
    )
    match = head.match(text, start, start + _MAX_HEAD)
    return match[1] if match is not None else ""
