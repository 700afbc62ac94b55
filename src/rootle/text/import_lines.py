"""Find the lines of a file that only import names from other files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# The first line of an import in the languages that are split into definitions. The name of a
# package or a module that a file belongs to is not an import.
_IMPORT: Final = re.compile(
    r"(?:import|using|use|extern crate|@import|require_relative)\s[\w\"'{(*@\\]"
    r"|import\s?\(|from\s+[\w.]+\s+import\b|#\s?(?:include|import)\b"
    r"|require\s?\(?[\"']|(?:const|let|var|local)\s[\w\s{},:$*]{1,200}=\s?require\s?\(?[\"']"
)
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_MAX_LINES: Final = 200  # of one import


def find_import_lines(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that are part of an import, from 1.

    Only imports that are not indented are found. An import in parentheses or braces ends with the
    line that closes them.
    """
    found: set[int] = set()
    depth = first = 0
    for number, line in enumerate(lines, start=1):
        if not depth and (line[:1].isspace() or _IMPORT.match(line) is None):
            continue
        if not depth:
            first = number
        depth += sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING))
        if depth <= 0 or number - first >= _MAX_LINES:
            depth = 0
        found.add(number)
    return found
