"""Read the numbered source lines in an answer of `vectordb_search`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# A source line: its number, two spaces and the line. An empty line may lack the two spaces.
_SOURCE_LINE: Final = re.compile(r" *(?P<number>\d+)(?:  (?P<text>.*))?")
# The location in a header, such as src/net/retry.py:4-6.
_PLACE: Final = re.compile(r"(?P<path>[\w./-]+):(?P<first>\d+)-(?P<last>\d+)")


@dataclass(frozen=True)
class ShownLine:
    """A numbered line in an answer, with the path from the header above it."""

    path: str
    number: int
    text: str
    is_in_range: bool  # whether the line range in the header contains the number


def read_shown_lines(answer: str) -> list[ShownLine]:
    """Return all numbered lines of an answer in order, except those before the first header."""
    shown = []
    place: re.Match[str] | None = None
    for line in answer.splitlines():
        if source := _SOURCE_LINE.fullmatch(line):
            if place is not None:
                number = int(source["number"])
                is_in_range = int(place["first"]) <= number <= int(place["last"])
                shown.append(ShownLine(place["path"], number, source["text"] or "", is_in_range))
        elif found := _PLACE.search(line):
            place = found
    return shown
