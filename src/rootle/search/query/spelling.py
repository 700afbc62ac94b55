"""Spelling correction: replace names that the index does not contain with similar ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import IndexReader
from rootle.text.similarity.edit_distance import edit_distance
from rootle.text.terms import MAX_WORD_CHARS, WORD, split_identifier, whole_identifier

# Shorter names are not corrected, because they are within one edit of too many other names. Long
# names may differ by two edits.
_MIN_CHARS: Final = 5
_MIN_CHARS_FOR_TWO_EDITS: Final = 8
_MAX_CHUNKS: Final = 200
_CHARS_FOR_AN_EDIT: Final = 4  # one edit is allowed per this many characters of changed words


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
    found = []
    for name in unknown:
        if word := typed.get(name):
            near = (one for one in find_nearest_names(name, index) if _is_misspelled(word, one))
            found += [Correction(word, meant) for meant in list(near)[:1]]
    return tuple(found)


def _is_misspelled(typed: str, meant: str) -> bool:
    """Return whether `typed` is a misspelling of `meant` rather than a name with other words.

    A typing error leaves most of a word unchanged. A name with one more word, such as UIManager for
    Manager, is not a misspelling.
    """
    words, others = (Counter(split_identifier(name)) for name in (typed, meant))
    left, right = words - others, others - words
    if not left or not right:  # the same words, or a word was added or left out
        return not left and not right
    own, other = "".join(left.elements()), "".join(right.elements())
    limit = max(1, min(len(own), len(other)) // _CHARS_FOR_AN_EDIT)
    return edit_distance(own, other, limit) <= limit


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
    counts = Counter(index.list_symbols(chunk_ids))  # the chunks may define other names too
    near = []
    for symbol, count in counts.items():
        distance = edit_distance(name, whole_identifier("".join(WORD.findall(symbol))), limit)
        if distance <= limit:
            near.append((distance, -count, symbol))
    return [symbol for _, _, symbol in sorted(near)]
