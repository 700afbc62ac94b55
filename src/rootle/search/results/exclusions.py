"""Lines that a caller has seen, from how it names them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rootle.errors import QueryError

_PLACE: Final = re.compile(r"(.+):(\d{1,9})-(\d{1,9})")


def parse_exclusions(seen: Iterable[str]) -> dict[str, list[range]]:
    """The lines that were seen, by path; raises QueryError for what is no `path:start-end`."""
    lines: dict[str, list[range]] = {}
    for place in seen:
        match = _PLACE.fullmatch(place)
        if match is None:
            raise QueryError(
                f'exclude has "{place}", expected "path:start-end", as in "src/a.py:3-20"'
            )
        lines.setdefault(match[1], []).append(range(int(match[2]), int(match[3]) + 1))
    return lines
