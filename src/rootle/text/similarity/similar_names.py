"""Find the names that resemble a given name, in bounded time."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final

_MAX_SIMILAR: Final = 3
# The maximum number of names that are compared, which bounds the time for a large folder: comparing
# the letters of one name takes up to 20 µs.
_MAX_COMPARED: Final = 20_000
# The maximum number of steps for comparing the names with similar letters. The time for one name
# can grow with the cube of its length. These steps are enough for 700 names of 30 characters.
_MAX_STEPS: Final = 20_000_000


def similar_names(
    name: str, names: Sequence[str], min_similarity: float
) -> list[tuple[float, str]]:
    """Return up to three pairs of a similarity (0 to 1) and a name, the most similar first.

    Names with similar letters are compared first. If there are too many, the others are left out.
    """
    matcher = difflib.SequenceMatcher()
    matcher.set_seq2(name)
    bounds: list[tuple[float, str]] = []
    for other in names[:_MAX_COMPARED]:
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() >= min_similarity:
            bounds.append((matcher.quick_ratio(), other))
    found: list[tuple[float, str]] = []
    left = _MAX_STEPS
    for bound, other in sorted(bounds, reverse=True):
        left -= len(name) * len(other) * min(len(name), len(other))
        is_full = len(found) == _MAX_SIMILAR and bound < found[-1][0]
        if bound < min_similarity or is_full or left < 0:
            break
        matcher.set_seq1(other)
        if (similarity := matcher.ratio()) >= min_similarity:
            found = sorted((*found, (similarity, other)), reverse=True)[:_MAX_SIMILAR]
    return found
