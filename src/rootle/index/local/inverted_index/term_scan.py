"""Scan the terms of a field for those that contain a string or are a few edits away from it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.index.local.inverted_index.postings_codec import Array
from rootle.protocols import Ids


class TermList:
    """All terms of a field, with the data that a scan needs."""

    def __init__(self, text: Array) -> None:
        """Create a list from all terms as UTF-8, each followed by a line feed."""
        self._text = text
        self._bytes = text.tobytes()
        self._ends: Ids = np.flatnonzero(text == _LINE_FEED)
        self._starts: Ids = np.append(0, self._ends + 1)[:-1]
        self._lengths = self._ends - self._starts
        # The set of letters in each term, as a bit mask.
        self._letters = np.zeros(0, np.uint32)
        if len(self._ends):
            self._letters = np.bitwise_or.reduceat(_letter_bits(text), self._starts)

    def containing(self, part: str) -> list[int]:
        """Return the positions of the terms that contain `part`, ascending."""
        text, wanted = self._bytes, part.encode()
        found, at = [], text.find(wanted)
        while at >= 0:
            found.append(at)
            at = text.find(wanted, text.index(b"\n", at))
        positions: list[int] = self._ends.searchsorted(found).tolist()
        return positions

    def find_near(self, word: str, distance: int) -> list[int]:
        """Return the positions of the terms at most `distance` edits from a word.

        An edit changes, inserts or deletes a byte of the UTF-8 form, or swaps two adjacent bytes.
        """
        wanted = np.frombuffer(word.encode(), np.uint8)
        letters = np.bitwise_or.reduce(_letter_bits(wanted)) ^ self._letters
        letters &= ~_LINE_FEED_BIT
        # One edit adds at most one letter to the set and removes at most one, so the sets may
        # differ in 2 * distance bits. Each step clears the lowest bit that differs.
        for _ in range(2 * distance):
            letters &= letters - np.uint32(1)
        is_similar = (letters == 0) & (np.abs(self._lengths - len(wanted)) <= distance)
        positions = np.flatnonzero(is_similar)
        if not len(positions):
            return []
        lengths = self._lengths[positions]
        columns = np.arange(len(wanted) + distance)
        at = np.minimum(self._starts[positions, None] + columns, len(self._text) - 1)
        rows = np.where(columns < lengths[:, None], self._text[at], 0)
        is_near = _distances(rows, wanted, distance)[lengths, np.arange(len(rows))] <= distance
        found: list[int] = positions[is_near].tolist()
        return found


_LINE_FEED: Final = 10
_LINE_FEED_BIT: Final = np.uint32(1 << (_LINE_FEED & 31))


def _letter_bits(text: Array) -> NDArray[np.uint32]:
    bits: NDArray[np.uint32] = np.uint32(1) << (text & 31).astype(np.uint32)
    return bits


def _distances(rows: Array, wanted: Array, limit: int) -> NDArray[np.int64]:
    """Return the optimal string alignment distances of a word to the prefixes of each row.

    The item (j, i) is the distance to the first j bytes of row i. If a distance exceeds the limit,
    the item is some number above the limit. See Boytsov, "Indexing methods for approximate
    dictionary searching", 2011, section 2.2. The table is computed for all rows at once, and only
    in a band around its diagonal, because distances outside the band exceed the limit.
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
    return np.stack(row)
