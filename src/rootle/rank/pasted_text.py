"""Find the lines from which a pasted text comes: an error message, a line of a log, or code.

A pasted text has the words of its source in the same order. It can lack some of them and have
others in between: a message in a log has values where the source has fields such as `%s`, and a
time before it. Therefore, words are aligned instead of searched as one phrase.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rootle.rank.question.name_question import parse_name_question
from rootle.text.terms import STOP_WORDS

# Frequencies of words: returns the number of files, and for each word how many contain it.
CountFiles = Callable[[Sequence[str]], tuple[int, Sequence[int]]]

_WORD: Final = re.compile(r"[^\W_]+")
_COMPOUND: Final = re.compile(r"\S+")
# The name of an option, a flag, a header or a package, without the hyphens before a flag.
_HYPHENATED: Final = re.compile(
    r"(?<![\w./-])-{0,2}([A-Za-z]\w{0,60}(?:-\w{1,60}){1,12})(?![\w/-])(?!\.\w)"
)
# In a longer query, a word with one hyphen is usually an ordinary one, such as "built-in".
_MIN_HYPHENS: Final = 2
_MAX_NAMES: Final = 2
_MAX_LINES: Final = 8  # of a query; the others add little
_MAX_WORDS: Final = 60  # per line of a query
# A statement that contains a message can continue on the next lines.
_WINDOW_LINES: Final = 3
# Values that were filled in, and the code between two parts of a message, take up to this many
# words.
_MAX_GAP: Final = 8
_MAX_PLACES: Final = 400  # occurrences of a word per text
_MAX_PAIRS: Final = 160  # equal words of a query and a window
# A line is a source if it has this share of the words of a query, weighted by rarity, and this
# many words. The share must be higher for fewer words, and for a sentence without the characters
# and numbers of a message or code: similar sentences occur in documents.
_MIN_SHARE: Final = 0.6
_MIN_WORDS: Final = 4
_SENTENCE_SHARE: Final = 0.8
_SHORT_WORDS: Final = 3
_SHORT_SHARE: Final = 0.75
_SHORT_SENTENCE_SHARE: Final = 0.9
# The share of a line that mentions a name, but does not have it as a string or a key.
_MENTION: Final = 0.8
# The share of a line that has the words only in the same order is multiplied by this factor.
_ALIGNED: Final = 0.95
_MARKED: Final = re.compile(r"[:;\"'`<>{}()\[\]=%/\\]|\b\d")
# The weight of a word that occurs in a quarter of the files.
_RARE_WEIGHT: Final = math.log(5)
# A value that was probably filled in: a number, a path, an address.
_VALUE: Final = re.compile(r"[/@]|\b\d")
# A question is not copied from a file.
_QUESTION: Final = re.compile(
    r"(?:how|what|where|when|which|who|whose|why|is|are|can|could|do|does|did)\b"
)
# Words that loggers add to a message.
_LOG_WORDS: Final = frozenset(
    "critical debug err error errors exception fatal info level log main msg notice panic severe "
    "trace uncaught warn warning".split()
)


@dataclass(frozen=True, slots=True)
class PastedLine:
    """The words of one line of a query."""

    text: str  # in lower case
    weights: Mapping[str, float]  # rarity of each word; 0 for words that occur in no file
    words: tuple[str, ...]  # in order
    fixed: frozenset[str]  # the words of the source: without values and words of loggers

    @property
    def known_words(self) -> list[str]:
        """The distinct words that occur in some file, rarest first."""
        return self._sort(self.words)

    @property
    def fixed_words(self) -> list[str]:
        """Those of `fixed` that occur in some file, rarest first, without common stop words."""
        common = {word for word in self.fixed & STOP_WORDS if self.weights[word] < _RARE_WEIGHT}
        return self._sort(word for word in self.words if word in self.fixed - common)

    @property
    def min_share(self) -> float:
        """The share of the fixed words that a source line must have."""
        return _MIN_SHARE if self.is_marked else _SENTENCE_SHARE

    def _sort(self, words: Iterable[str]) -> list[str]:
        known = [word for word in dict.fromkeys(words) if self.weights[word] > 0]
        return sorted(known, key=lambda word: -self.weights[word])

    @property
    def is_marked(self) -> bool:
        """Whether the line has characters of a message or of code."""
        return _MARKED.search(self.text) is not None

    @property
    def is_compound(self) -> bool:
        """Whether the line is one name of several words, such as `max-page-size`."""
        return _COMPOUND.fullmatch(self.text) is not None


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file from which a text may come."""

    number: int  # from 1
    share: float  # of the words of the pasted line, weighted by rarity


def may_be_pasted(text: str) -> bool:
    """Return whether a query may contain pasted text or a hyphenated name.

    A single word and a question in plain words cannot.
    """
    lower = text.strip().lower()
    if _MARKED.search(lower) is not None or find_hyphenated_names(text)[0]:
        return True
    return len(_WORD.findall(lower)) > 1 and _QUESTION.match(lower) is None


def read_pasted_lines(text: str, count_files: CountFiles) -> list[PastedLine]:
    """Return the lines of a query that may be pasted: those with enough words."""
    lines = [line.strip().strip("`").strip().lower() for line in text.split("\n")]
    split = [(line, tuple(_WORD.findall(line)[:_MAX_WORDS])) for line in lines]
    long = [
        (line, words)
        for line, words in split
        if len(set(words)) >= (2 if _COMPOUND.fullmatch(line) else _SHORT_WORDS)
    ][:_MAX_LINES]
    distinct = list(dict.fromkeys(word for _, words in long for word in words))
    if not distinct:
        return []
    total, counts = count_files(distinct)
    weights = {
        word: math.log(1 + total / count) if count else 0.0
        for word, count in zip(distinct, counts, strict=True)
    }
    found = [
        PastedLine(line, {word: weights[word] for word in words}, words, _fixed_words(line, words))
        for line, words in long
    ]
    return [line for line in found if line.is_marked or not _QUESTION.match(line.text)]


def find_hyphenated_names(text: str) -> tuple[list[str], bool]:
    """Return at most two hyphenated names in a query, and whether it asks only for their place.

    Such a query is one name, or asks where it is defined. In other queries, only names with several
    hyphens are returned.
    """
    names = list(dict.fromkeys(match[1] for match in _HYPHENATED.finditer(text)))
    if len(names) == 1:
        identifier = names[0].replace("-", "_")
        plain = re.sub(rf"-{{0,2}}{re.escape(names[0])}", identifier, text)
        asked = parse_name_question(plain)
        if asked is not None and asked.name == identifier and asked.aspect == "definitions":
            return names, True
    return [name for name in names if name.count("-") >= _MIN_HYPHENS][:_MAX_NAMES], False


def _fixed_words(line: str, words: Sequence[str]) -> frozenset[str]:
    texts = [text for text in line.split() if not _VALUE.search(text)]
    return frozenset(_WORD.findall(" ".join(texts))) & frozenset(words) - _LOG_WORDS


def find_source_lines(pasted: PastedLine, text: str) -> list[SourceLine]:
    """Return the lines of a text from which a pasted line may come, best first.

    The share of a line that contains the whole pasted line is 1.
    """
    lower = text.lower()
    if pasted.is_compound:
        return _find_name(pasted.text, lower)
    counted = [(word, pasted.weights[word]) for word in pasted.words if word in pasted.fixed]
    total = math.fsum(weight for _, weight in counted)
    least = total * pasted.min_share * 0.999  # the order of a sum changes its rounding
    numbers_of_words = _line_numbers(lower, _find_anchors(pasted, lower, total))
    if not numbers_of_words:
        return []
    lines = lower.split("\n")
    best: dict[int, float] = {}
    for first in sorted({max(1, number - back) for number in numbers_of_words for back in (0, 1)}):
        if pasted.text in lines[first - 1]:
            best[first] = 1.0
            continue
        text = " ".join(lines[first - 1 : first - 1 + _WINDOW_LINES])
        if sum(weight for word, weight in counted if word in text) < least:
            continue
        window = _Window(lines, first)
        chain = [
            pair for pair in _align(pasted, window.words) if pasted.words[pair[0]] in pasted.fixed
        ]
        share = math.fsum(pasted.weights[pasted.words[at]] for at, _ in chain) / total
        if _is_source(pasted, [pasted.words[at] for at, _ in chain], share):
            number = window.main_line(pasted, chain)
            best[number] = max(best.get(number, 0.0), share * _ALIGNED)
    return [
        SourceLine(number, share)
        for number, share in sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _find_name(name: str, text: str) -> list[SourceLine]:
    """Return the lines of a text in lower case with a whole name: first strings and keys."""
    word = rf"{re.escape(name)}(?![\w-])"
    whole = re.compile(
        rf"(?P<string>[\"'`]-{{0,2}}{word}=?[\"'`])|(?P<key>^[ \t]*+(?:- )?{word}|[.#]{word})"
        rf"|(?<![\w-]){word}",
        re.MULTILINE,
    )
    hits = list(islice(whole.finditer(text), _MAX_PLACES))
    best: dict[int, float] = {}
    for number, hit in zip(_line_numbers(text, [hit.start() for hit in hits]), hits, strict=True):
        best[number] = max(best.get(number, 0.0), 1.0 if hit.lastgroup else _MENTION)
    ranked = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    return [SourceLine(number, share) for number, share in ranked]


def _find_anchors(pasted: PastedLine, text: str, total: float) -> list[int]:
    """Return where words of which every source line has at least one occur in a text."""
    places: list[int] = []
    rest = total
    for word in pasted.fixed_words or pasted.known_words:
        if rest < total * pasted.min_share:
            break
        found = re.finditer(re.escape(word), text)
        places += [match.start() for match in islice(found, _MAX_PLACES)]
        rest -= pasted.weights[word] * pasted.words.count(word)
    return sorted(places)


def _line_numbers(text: str, places: Sequence[int]) -> list[int]:
    """Return the line of each place, from 1. The places are in ascending order."""
    numbers, number, end = [], 1, 0
    for place in places:
        number += text.count("\n", end, place)
        end = place
        numbers.append(number)
    return numbers


class _Window:
    """The words of a few adjacent lines."""

    def __init__(self, lines: Sequence[str], first: int) -> None:
        self.words: list[str] = []
        self._numbers: list[int] = []
        for number, line in enumerate(lines[first - 1 : first - 1 + _WINDOW_LINES], first):
            words = _WORD.findall(line)
            self.words += words
            self._numbers += [number] * len(words)

    def main_line(self, pasted: PastedLine, chain: Sequence[tuple[int, int]]) -> int:
        """Return the number of the line with most of the aligned words."""
        weights: dict[int, float] = {}
        for _, at in chain:
            number = self._numbers[at]
            weights[number] = weights.get(number, 0.0) + pasted.weights[self.words[at]]
        return max(weights, key=lambda number: (weights[number], -number))


def _align(pasted: PastedLine, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the heaviest chain of equal words in the same order, without long gaps.

    Each pair has the position in the pasted line and the one in the words of the window.
    """
    places: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        if word in pasted.weights:
            places.setdefault(word, []).append(at)
    pairs = [(i, j) for i, word in enumerate(pasted.words) for j in places.get(word, ())]
    pairs = pairs[:_MAX_PAIRS]
    best: list[tuple[float, int]] = []  # weight of the chain up to each pair, and the pair before
    for at, (i, j) in enumerate(pairs):
        weight, before = 0.0, -1
        for earlier in range(at):
            p, q = pairs[earlier]
            if p < i and q < j and i - p <= _MAX_GAP and j - q <= _MAX_GAP:
                adjacent = 1e-6 if (i - p, j - q) == (1, 1) else 0.0
                if best[earlier][0] + adjacent > weight:
                    weight, before = best[earlier][0] + adjacent, earlier
        best.append((weight + pasted.weights[pasted.words[i]], before))
    chain = []
    at = max(range(len(best)), key=lambda at: best[at][0], default=-1)
    while at >= 0:
        chain.append(pairs[at])
        at = best[at][1]
    return chain[::-1]


def _is_source(pasted: PastedLine, matched: Sequence[str], share: float) -> bool:
    if sum(word not in STOP_WORDS for word in matched) < 2:
        return False
    is_short = len(matched) < _MIN_WORDS
    if pasted.is_marked:
        min_share = _SHORT_SHARE if is_short else pasted.min_share
    else:
        min_share = _SHORT_SENTENCE_SHARE if is_short else pasted.min_share
    return len(matched) >= _SHORT_WORDS and share >= min_share
