"""Prefixes of words, used to compare the lines of a file with a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

from rootle.text.terms import STOP_WORDS, find_words, split_identifier

# Number of characters at the start of a word that all its inflected forms are assumed to share.
_STEM_CHARS: Final = 5
_MIN_WORD_CHARS: Final = 3
# No stem contains this character.
NAME_MARK: Final = "="
# The maximum number of words whose stems are cached, which limits the memory to a few megabytes.
# Code repeats its words. Without the cache, splitting them took most of the time for choosing the
# lines of an answer.
_MAX_WORDS: Final = 16_384
# The same limit for lines: the answers to several questions often show the same files. Longer lines
# are usually data.
_MAX_LINES: Final = 16_384
_MAX_LINE_CHARS: Final = 200


def list_stems(text: str) -> list[str]:
    """Return the prefixes of the words and parts of identifiers in a text, without stop words."""
    return list(chain.from_iterable(map(_stems_of_word, find_words(text))))


@lru_cache(_MAX_WORDS)
def _stems_of_word(word: str) -> tuple[str, ...]:
    """Return the stems of the parts of a word.

    A short name with digits, such as "e2e" or "i18n", has only parts that are too short. It is a
    stem as a whole.
    """
    parts = [part for part in split_identifier(word) if len(part) >= _MIN_WORD_CHARS]
    if not parts and len(word) >= _MIN_WORD_CHARS and _has_letter_and_digit(word):
        parts = [word.lower()]
    return tuple(part[:_STEM_CHARS] for part in parts if part not in STOP_WORDS)


def _has_letter_and_digit(word: str) -> bool:
    return any(map(str.isalpha, word)) and any(map(str.isdigit, word))


@lru_cache(_MAX_LINES)
def _stems_of_line(line: str) -> Sequence[str]:
    return list_stems(line)


def collect_stems(text: str) -> frozenset[str]:
    """Return the distinct stems of a text."""
    return frozenset(list_stems(text))


def collect_pairs(stems: Sequence[str]) -> frozenset[str]:
    """Return the pairs of adjacent stems, each with a space between its stems."""
    return frozenset(f"{one} {following}" for one, following in pairwise(stems))


def collect_names(text: str) -> frozenset[str]:
    """Return the identifiers in a text that consist of several words, each after `NAME_MARK`."""
    return frozenset(f"{NAME_MARK}{word}" for word in find_words(text) if _has_words(word))


@lru_cache(_MAX_WORDS)
def _has_words(identifier: str) -> bool:
    return sum(map(str.isalpha, split_identifier(identifier))) > 1


def find_stems(lines: Sequence[str], question: str) -> Mapping[int, frozenset[str]]:
    """Map each line to the stems, pairs of adjacent stems and names that it shares with a question.

    Line numbers start at 1. Lines without stems are left out. If the stems of a pair are on two
    adjacent lines, such as in a comment, the second line has the pair. Names are those of
    `collect_names`.
    """
    asked = list_stems(question)
    stems = frozenset(asked)
    names = collect_names(question)
    pairs = {(one, following): f"{one} {following}" for one, following in pairwise(asked)}
    found: dict[int, frozenset[str]] = {}
    before: tuple[int, str] = (0, "")
    for at in sorted(_lines_with(lines, stems)):
        line = lines[at - 1]
        listed = _stems_of_line(line) if len(line) <= _MAX_LINE_CHARS else list_stems(line)
        if some := stems.intersection(listed):
            joined = [before[1], *listed] if before[0] == at - 1 else listed
            adjacent = pairs.keys() & pairwise(joined)
            if names:
                some |= names & collect_names(line)
            found[at] = some.union(map(pairs.__getitem__, adjacent)) if adjacent else some
        if listed:
            before = (at, listed[-1])
    return found


def _lines_with(lines: Sequence[str], stems: Iterable[str]) -> set[int]:
    """Return the numbers of the lines that may contain the stems.

    Splitting lines into words takes much longer than this search, so other lines are not split.
    Lines with non-ASCII characters are always included, because converting a whole line to lower
    case can give other words than converting each word separately.
    """
    text = "\n".join(lines)
    found = set[int]()
    if not text.isascii():
        found.update(number for number, line in enumerate(lines, 1) if not line.isascii())
    text = text.lower()
    for stem in stems:
        found.update(_lines_around(text, stem))
    return found


def _lines_around(text: str, part: str) -> Iterator[int]:
    """Yield the numbers of the lines of a text that contain `part`, in ascending order."""
    number, start = 1, 0  # the number and the start of the line where the search continues
    while (at := text.find(part, start)) >= 0:
        number += text.count("\n", start, at)
        yield number
        end = text.find("\n", at)
        if end < 0:
            return
        number, start = number + 1, end + 1
