"""The number of typing errors by which two texts differ."""

from __future__ import annotations

from typing import Final

# Replacing a character with one that looks similar on a screen counts as a quarter of an edit.
_LOOKALIKES: Final = (frozenset("il1"), frozenset("o0"))
_LOOKALIKE_COST: Final = 0.25


def edit_distance(left: str, right: str) -> float:
    """Return the optimal string alignment distance, with a reduced cost for lookalikes.

    The distance is the number of characters that are changed, inserted, deleted or swapped with the
    next character.
    """
    before: list[float] = []
    row: list[float] = [float(at) for at in range(len(right) + 1)]
    for i, char in enumerate(left, start=1):
        before, row, last = row, [float(i)], before
        for j, other in enumerate(right, start=1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + _cost(char, other))
            if i > 1 and j > 1 and char == right[j - 2] and left[i - 2] == other:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]


def _cost(left: str, right: str) -> float:
    if left == right:
        return 0.0
    alike = any(left in group and right in group for group in _LOOKALIKES)
    return _LOOKALIKE_COST if alike else 1.0
