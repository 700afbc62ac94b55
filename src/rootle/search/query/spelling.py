"""Names that stand nowhere in the index, and the names that were probably meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rootle.rank.question.parsed import Question
from rootle.text.terms import WORD, whole_identifier

# A short name is near to too many others; a long one leaves room for two slips.
_MIN_CHARS: Final = 5
_TWO_EDITS_FROM: Final = 8
_MAX_CHUNKS: Final = 200
# What looks the same on a screen or in print is hardly an edit.
_LOOK_ALIKES: Final = (frozenset("il1"), frozenset("o0"))
_LOOK_ALIKE_COST: Final = 0.25


class NameReader(Protocol):
    """The index of names, as far as it is needed here."""

    def is_known(self, name: str) -> bool: ...
    def near_definers(self, name: str, distance: int, k: int) -> list[int]: ...


class SymbolReader(Protocol):
    """The names of chunks, as far as they are needed here."""

    @property
    def sparse(self) -> NameReader: ...
    def symbols_of(self, chunk_ids: Sequence[int]) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Correction:
    typed: str
    meant: str


def corrections_of(text: str, question: Question, index: SymbolReader) -> tuple[Correction, ...]:
    """For each name of a question that is unknown here the nearest one that is defined.

    A message that a program printed is left alone: nobody typed it.
    """
    if not question.names or question.intent == "error":
        return ()
    unknown = [name for name in question.names if not index.sparse.is_known(name)]
    if not unknown:
        return ()
    typed = {whole_identifier(word): word for word in WORD.findall(text)}
    found = [(typed.get(name), nearest_name(name, index)) for name in unknown]
    return tuple(Correction(typed, meant) for typed, meant in found if typed and meant)


def corrected(text: str, corrections: Sequence[Correction]) -> str:
    """A text with the names that were meant in the place of those that were typed."""
    meant = {correction.typed: correction.meant for correction in corrections}
    return WORD.sub(lambda match: meant.get(match.group(), match.group()), text)


def nearest_name(name: str, index: SymbolReader) -> str | None:
    """The defined name that one which is unknown was probably meant for."""
    if len(name) < _MIN_CHARS:
        return None
    limit = 2 if len(name) >= _TWO_EDITS_FROM else 1
    chunk_ids = index.sparse.near_definers(name, limit, _MAX_CHUNKS)
    counts = Counter(index.symbols_of(chunk_ids))  # of names, all that stand in these chunks
    near = []
    for symbol, count in counts.items():
        distance = edit_distance(name, whole_identifier("".join(WORD.findall(symbol))))
        if distance <= limit:
            near.append((distance, -count, symbol))
    return min(near)[2] if near else None


def edit_distance(left: str, right: str) -> float:
    """Edits from one text to another: letters changed, added, left out or swapped with the next.

    Signs that look alike cost a quarter (optimal string alignment otherwise).
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
    alike = any(left in group and right in group for group in _LOOK_ALIKES)
    return _LOOK_ALIKE_COST if alike else 1.0
