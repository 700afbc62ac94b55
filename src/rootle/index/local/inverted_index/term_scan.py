"""Find the terms of a field that contain a text or are a few edits from one, by a scan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rootle.index.local.inverted_index.segment import FieldReader

_Rows = NDArray[np.uint8]
_LINE_FEED = 10


def terms_containing(field: FieldReader, part: str) -> list[int]:
    """Return the positions of the terms that contain `part`, ascending."""
    terms = field.text()
    text, wanted = terms.tobytes(), part.encode()
    found, at = [], text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, text.index(b"\n", at))
    positions: list[int] = np.flatnonzero(terms == _LINE_FEED).searchsorted(found).tolist()
    return positions


def terms_near(field: FieldReader, word: str, distance: int) -> list[int]:
    """Return the positions of the terms at most `distance` edits from a word.

    An edit changes, inserts or deletes a byte of the UTF-8 form, or swaps two adjacent bytes.
    """
    text, wanted = field.text(), np.frombuffer(word.encode(), np.uint8)
    ends = np.flatnonzero(text == _LINE_FEED)
    starts = np.append(0, ends + 1)[:-1]
    lengths = ends - starts
    found: list[int] = []
    for length in range(max(len(wanted) - distance, 1), len(wanted) + distance + 1):
        positions = np.flatnonzero(lengths == length)
        if not positions.size:  # the table of a long word takes seconds even without rows
            continue
        rows = text[starts[positions, None] + np.arange(length)]
        found += positions[_distances(rows, wanted, distance) <= distance].tolist()
    return sorted(found)


def _distances(rows: _Rows, wanted: _Rows, limit: int) -> NDArray[np.int64]:
    """Return the optimal string alignment distance of each row, shape (rows, length), to a word.

    Distances above the limit are only known to be above it. Boytsov, "Indexing methods for
    approximate dictionary searching", 2011, section 2.2. The table is computed for all rows at
    once, and only in the band around its diagonal that the limit allows.
    """
    count, length = rows.shape
    before: list[NDArray[np.int64]] = []
    far = np.full(count, limit + 1)
    row = [np.full(count, min(at, limit + 1)) for at in range(length + 1)]
    for i, byte in enumerate(wanted, start=1):
        last, before, row = before, row, [np.full(count, min(i, limit + 1))]
        for j in range(1, length + 1):
            if abs(i - j) > limit:
                row.append(far)
                continue
            cost = (rows[:, j - 1] != byte).astype(np.int64)
            best = np.minimum(np.minimum(before[j], row[j - 1]) + 1, before[j - 1] + cost)
            if i > 1 and j > 1:
                is_swapped = (rows[:, j - 2] == byte) & (rows[:, j - 1] == wanted[i - 2])
                best = np.where(is_swapped, np.minimum(best, last[j - 2] + 1), best)
            row.append(best)
    return row[-1]
