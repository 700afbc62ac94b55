"""Prefixes of words, used to compare the lines of a file with a question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final

from rootle.text.terms import STOP_WORDS, WORD, split_identifier

# Number of characters at the start of a word that all its inflected forms are assumed to share.
_STEM_CHARS: Final = 5
_MIN_WORD_CHARS: Final = 3


def list_stems(text: str) -> list[str]:
    """Return the prefixes of the words and parts of identifiers in a text, without stop words."""
    parts = (part for word in WORD.findall(text) for part in split_identifier(word))
    return [
        part[:_STEM_CHARS]
        for part in parts
        if len(part) >= _MIN_WORD_CHARS and part not in STOP_WORDS
    ]


def stems_of(text: str) -> frozenset[str]:
    """Return the distinct stems of a text."""
    return frozenset(list_stems(text))


def pairs_of(stems: Sequence[str]) -> frozenset[str]:
    """Return the pairs of adjacent stems, each with a space between its stems."""
    return frozenset(f"{one} {following}" for one, following in pairwise(stems))


def find_stems(lines: Sequence[str], question: str) -> Mapping[int, frozenset[str]]:
    """Return the stems of a question in each line, and the pairs that are adjacent in both.

    Line numbers start at 1. Lines without stems are left out. If the stems of a pair are on two
    adjacent lines, such as in a comment, the second line has the pair.
    """
    asked = list_stems(question)
    stems, pairs = frozenset(asked), pairs_of(asked)
    found: dict[int, frozenset[str]] = {}
    before: tuple[int, str] = (0, "")
    for at in sorted(_lines_with(lines, stems)):
        listed = list_stems(lines[at - 1])
        some = stems & frozenset(listed)
        if some:
            joined = [before[1], *listed] if before[0] == at - 1 else listed
            found[at] = some | (pairs & pairs_of(joined))
        if listed:
            before = (at, listed[-1])
    return found


def _lines_with(lines: Sequence[str], stems: Iterable[str]) -> set[int]:
    """Return the numbers of the lines that may contain the stems.

    Splitting lines into words takes much longer than this search, so other lines are not split.
    Lines with non-ASCII characters are always included, because converting a whole line to lower
    case can change its words in another way than converting each word.
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
