"""Prefixes of words, used to compare the lines of a file with a question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

from rootle.text.terms import STOP_WORDS, WORD, split_identifier

# Number of characters at the start of a word that all its inflected forms are assumed to share.
_STEM_CHARS: Final = 5
_MIN_WORD_CHARS: Final = 3


def stems_of(text: str) -> frozenset[str]:
    """Return the prefixes of the words and parts of identifiers in a text, without stop words."""
    parts = (part for word in WORD.findall(text) for part in split_identifier(word))
    return frozenset(
        part[:_STEM_CHARS]
        for part in parts
        if len(part) >= _MIN_WORD_CHARS and part not in STOP_WORDS
    )


def find_stems(lines: Sequence[str], stems: frozenset[str]) -> Mapping[int, frozenset[str]]:
    """Return the stems in each line, by line number from 1; lines without stems are left out."""
    found = {at: stems_of(lines[at - 1]) & stems for at in _lines_with(lines, stems)}
    return {at: some for at, some in found.items() if some}


def _lines_with(lines: Sequence[str], stems: Iterable[str]) -> set[int]:
    """Return the numbers of the lines that may contain the stems.

    Splitting lines into words takes much longer than this search, so other lines are not split.
    Lines with non-ASCII characters are always included, because a word in lower case can differ
    from the same word in a line that was converted to lower case as a whole.
    """
    lowered = [line.lower() for line in lines]
    text = "\n".join(lowered)
    ends = list(accumulate(len(line) + 1 for line in lowered))
    found = {number for number, line in enumerate(lines, 1) if not line.isascii()}
    for stem in stems:
        at = text.find(stem)
        while at >= 0:
            number = bisect_right(ends, at) + 1
            found.add(number)
            at = text.find(stem, ends[number - 1])
    return found
