"""Spelling correction: replace names that the index does not contain with similar ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import IndexReader
from rootle.text.similarity.edit_distance import edit_distance
from rootle.text.terms import MAX_WORD_CHARS, WORD, whole_identifier

# Shorter names are not corrected, because they are within one edit of too many other names. Long
# names may differ by two edits.
_MIN_CHARS: Final = 5
_MIN_CHARS_FOR_TWO_EDITS: Final = 8
_MAX_CHUNKS: Final = 200


@dataclass(frozen=True, slots=True)
class Correction:
    """A name that does not occur in the index, and the defined name that replaces it."""

    typed: str
    meant: str


def find_corrections(text: str, names: Sequence[str], index: IndexReader) -> tuple[Correction, ...]:
    """Return corrections for the normalized names that the index does not contain."""
    unknown = [name for name in names if not index.sparse.is_known(name)]
    if not unknown:
        return ()
    typed = {whole_identifier(word): word for word in WORD.findall(text)}
    found = [(typed.get(name), find_nearest_name(name, index)) for name in unknown]
    return tuple(Correction(typed, meant) for typed, meant in found if typed and meant)


def apply_corrections(text: str, corrections: Sequence[Correction]) -> str:
    """Return a text with its names corrected."""
    meant = {correction.typed: correction.meant for correction in corrections}
    return WORD.sub(lambda match: meant.get(match.group(), match.group()), text)


def find_nearest_name(name: str, index: IndexReader) -> str | None:
    """Return the defined name nearest to a normalized name, or None if none is near enough."""
    return next(iter(find_nearest_names(name, index)), None)


def find_nearest_names(name: str, index: IndexReader) -> list[str]:
    """Return the defined names near a normalized name, the nearest and most frequent first."""
    if not _MIN_CHARS <= len(name) <= MAX_WORD_CHARS:
        return []
    limit = 2 if len(name) >= _MIN_CHARS_FOR_TWO_EDITS else 1
    chunk_ids = index.sparse.near_definers(name, limit, _MAX_CHUNKS)
    counts = Counter(index.symbols_of(chunk_ids))  # the chunks may define other names too
    near = []
    for symbol, count in counts.items():
        distance = edit_distance(name, whole_identifier("".join(WORD.findall(symbol))))
        if distance <= limit:
            near.append((distance, -count, symbol))
    return [symbol for _, _, symbol in sorted(near)]
