"""The number of typing errors by which two texts differ."""

from __future__ import annotations

from typing import Final

# Replacing a character with one that looks similar on a screen counts as a quarter of an edit.
_LOOKALIKES: Final = ("il1", "o0")
_LOOKALIKE_COST: Final = 0.25
_COSTS: Final = {
    (one, other): _LOOKALIKE_COST for group in _LOOKALIKES for one in group for other in group
}


def edit_distance(left: str, right: str, limit: int) -> float:
    """Return the optimal string alignment distance, with a reduced cost for lookalikes.

    The distance is the number of characters that are changed, inserted, deleted or swapped with the
    next character. If it exceeds `limit`, return infinity. The time grows with the length of the
    shorter text multiplied by `limit`.
    """
    if abs(len(left) - len(right)) > limit:
        return float("inf")
    # Only cells within `limit` cells of the diagonal can have a distance of at most `limit`.
    before: dict[int, float] = {}
    row: dict[int, float] = {at: float(at) for at in range(min(limit, len(right)) + 1)}
    for i, char in enumerate(left, start=1):
        before, row, last = row, {}, before
        if i <= limit:
            row[0] = float(i)
        for j in range(max(1, i - limit), min(len(right), i + limit) + 1):
            other = right[j - 1]
            best = before[j - 1] + (0.0 if char == other else _COSTS.get((char, other), 1.0))
            best = min(best, before.get(j, best) + 1, row.get(j - 1, best) + 1)
            if i > 1 and j > 1 and char == right[j - 2] and left[i - 2] == other:
                best = min(best, last[j - 2] + 1)
            row[j] = best
        if min(row.values()) > limit:
            return float("inf")
    distance = row[len(right)]
    return distance if distance <= limit else float("inf")
