"""Align the words of a pasted line with those of a few lines of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

WORD: Final = re.compile(r"[^\W_]+")
# A statement that contains a message can continue on the next lines.
WINDOW_LINES: Final = 5
# The maximum distance of two aligned words, in words. The words in between are values that were
# filled in, or code between two parts of a message.
_MAX_GAP: Final = 8
_MAX_PAIRS: Final = 100  # maximum number of pairs of equal words in a pasted line and a window


class Window:
    """The words of a few adjacent lines."""

    def __init__(self, lines: Sequence[str], first: int) -> None:
        self.words: list[str] = []
        self._numbers: list[int] = []
        for number, line in enumerate(lines[first - 1 : first - 1 + WINDOW_LINES], first):
            words = WORD.findall(line)
            self.words += words
            self._numbers += [number] * len(words)

    def main_line(self, rarity: Mapping[str, float], chain: Sequence[tuple[int, int]]) -> int:
        """Return the number of the line whose aligned words have the highest total rarity."""
        weights: dict[int, float] = {}
        for _, at in chain:
            number = self._numbers[at]
            weights[number] = weights.get(number, 0.0) + rarity[self.words[at]]
        return max(weights, key=lambda number: (weights[number], -number))

    def count_breaks(self, chain: Sequence[tuple[int, int]]) -> int:
        """Return the number of line breaks between the aligned words."""
        return self._numbers[chain[-1][1]] - self._numbers[chain[0][1]]


def align_words(
    pasted: Sequence[str], rarity: Mapping[str, float], words: Sequence[str]
) -> list[tuple[int, int]]:
    """Return the heaviest chain of equal words in the same order, without long gaps.

    Each pair contains a position in the pasted line and a position in the words of the window.
    """
    places: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        if word in rarity:
            places.setdefault(word, []).append(at)
    pairs = [(i, j) for i, word in enumerate(pasted) for j in places.get(word, ())]
    pairs = pairs[:_MAX_PAIRS]
    # For each pair: the weight of the best chain that ends with it, and the previous pair.
    best: list[tuple[float, int]] = []
    for at, (i, j) in enumerate(pairs):
        weight, before = 0.0, -1
        for earlier in range(at):
            p, q = pairs[earlier]
            if p < i and q < j and i - p <= _MAX_GAP and j - q <= _MAX_GAP:
                adjacent = 1e-6 if (i - p, j - q) == (1, 1) else 0.0
                if best[earlier][0] + adjacent > weight:
                    weight, before = best[earlier][0] + adjacent, earlier
        best.append((weight + rarity[pasted[i]], before))
    chain = []
    at = max(range(len(best)), key=lambda at: best[at][0], default=-1)
    while at >= 0:
        chain.append(pairs[at])
        at = best[at][1]
    return chain[::-1]
