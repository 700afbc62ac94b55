"""Suggest existing paths for a path that does not exist."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Collection
from typing import Final

# The minimum similarity of two names, chosen by hand: "retrry.py" and "retries.py" resemble
# "retry.py", but "read.py" does not.
_MIN_SIMILARITY: Final = 0.75
_MAX_SIMILAR_NAMES: Final = 3
# The maximum number of names that are compared, which bounds the time for a large folder: comparing
# one name takes up to 20 µs.
_MAX_COMPARED_NAMES: Final = 20_000


def nearest_paths(path: str, known: Collection[str]) -> list[str]:
    """Return the known paths with the same file name, or else with a similar one.

    Names that differ only in their extension are preferred to other similar names. Paths with the
    most folders in common come first.
    """
    name = posixpath.basename(path).casefold()
    by_name: dict[str, list[str]] = {}
    for other in known:
        by_name.setdefault(posixpath.basename(other).casefold(), []).append(other)
    stem = posixpath.splitext(name)[0]
    found = [name] if name in by_name else []
    found = found or [other for other in by_name if posixpath.splitext(other)[0] == stem]
    found = found or difflib.get_close_matches(
        name, list(by_name)[:_MAX_COMPARED_NAMES], _MAX_SIMILAR_NAMES, _MIN_SIMILARITY
    )
    parts = set(path.split("/")[:-1])
    ranked = [(rank, other) for rank, near in enumerate(found) for other in by_name[near]]
    ranked.sort(key=lambda pair: (-len(parts.intersection(pair[1].split("/"))), pair[0], pair[1]))
    return [other for _, other in ranked]
