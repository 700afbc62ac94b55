"""Find the lines from which a pasted text comes: an error message, a line of a log, or code.

A pasted text has the words of its source in the same order, but some words may be missing or added.
For example, a line of a log begins with a time and the name of a logger, and has values where the
source has fields such as `%s`. Therefore, words are aligned instead of searched as one phrase. A
text that looks neither like a message nor like code may be a description in other words. It is
found only if it occurs literally.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

from rootle.rank.hyphenated_names import find_hyphenated_names, find_name_lines
from rootle.rank.log_lines import blank_code_values, blank_generated, blank_values
from rootle.rank.message_parts import (
    COMPOUND,
    MIN_SHARE,
    QUESTION,
    MessagePart,
    fixed_words,
    is_marked,
    split_message,
)
from rootle.rank.word_alignment import WINDOW_LINES, WORD, Window, align_words
from rootle.text.terms import STOP_WORDS
from rootle.text.whole_names import line_numbers

# Returns the number of all files, and for each word the number of files that contain it.
CountFiles = Callable[[Sequence[str]], tuple[int, Sequence[int]]]

_MAX_LINES: Final = 12  # lines of a query that are searched; further lines add little
_MAX_WORDS: Final = 60  # words per line of a query
# The number of parts of queries whose words are kept, because they are needed several times.
_MAX_KEPT: Final = 64
_MAX_PLACES: Final = 400  # occurrences of a word per text
# The maximum number of windows of a text that are aligned: those that share the most words with the
# line. Aligning one window takes 0.5 ms.
_MAX_WINDOWS: Final = 8
# A source must contain at least _SHORT_WORDS words of a message. The share of these words in the
# message, weighted by rarity, must be at least MIN_SHARE, or _SHORT_SHARE if there are fewer than
# _MIN_WORDS of them.
_MIN_WORDS: Final = 4
_SHORT_WORDS: Final = 3
_SHORT_SHARE: Final = 0.75
# The minimum share for a line without the values that may be part of the message, which leaves out
# words that the source may have.
_TEMPLATE_SHARE: Final = 0.75
# If a source matches only without the values, its share is multiplied by this factor, so that a
# source with the values ranks higher.
_TEMPLATE: Final = 0.97
# If words of the pasted line were left out, the share of a source is reduced by this fraction for
# each line break in it, because a few words often occur in the same order in adjacent lines of
# code.
_PER_LINE: Final = 0.12
# A text without signs of a message or of code must have this many words.
_LITERAL_WORDS: Final = 4
# At most three plain words. They are neither a path nor the report of a program.
_FEW_WORDS: Final = re.compile(r"[^\W\d_]+(?:\s+[^\W\d_]+){0,2}")
# If a line has the words in the same order, but not the literal text, its share is multiplied by
# this factor.
_ALIGNED: Final = 0.95
# The weight of a word that occurs in a quarter of the files.
_RARE_WEIGHT: Final = math.log(5)
# Signs before the lines of a diff, of a quotation and of a numbered listing.
_LINE_SIGN: Final = re.compile(r"(?:[>+-]|\d{1,6}[:|])\s?")


@dataclass(frozen=True, slots=True)
class PastedLine:
    """The words of one line of a query, or of the part of it that may be the message."""

    row: int  # number of the line in the query, from 0
    text: str  # in lower case, with single spaces
    weights: Mapping[str, float]  # rarity of each word; 0 for words that occur in no file
    words: tuple[str, ...]  # in order
    fixed: frozenset[str]  # words that come from the source: neither values nor words of loggers
    # The words to look up, rarest first: those that the source must contain, without common stop
    # words and words that occur in no file.
    searched: tuple[str, ...]
    is_marked: bool  # the line has signs of a message or of code
    is_compound: bool  # the text is one name of several words, such as `max-page-size`
    min_share: float = MIN_SHARE  # the share of its words that a source must have
    # The same line without values that may be a part of the message, such as `shop.tasks.add`.
    template: PastedLine | None = None

    @property
    def is_part(self) -> bool:
        """Whether words were left out, so that the rest must be in the source."""
        return self.min_share > MIN_SHARE

    @property
    def has_values(self) -> bool:
        """Whether some words were probably filled in, so that they are not in the source."""
        return not self.is_compound and blank_values(self.text) != self.text

    @property
    def is_aligned(self) -> bool:
        """Whether a source may lack some of the words. If not, it must have the literal text."""
        return self.is_marked and not self.is_compound


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file from which a text may come."""

    number: int  # from 1
    share: float  # of the words of the pasted line, weighted by rarity


def may_be_pasted(text: str, *, has_phrases: bool = False) -> bool:
    """Return whether a query may contain pasted text, a path or a hyphenated name.

    Return False for a question in plain words, and for a few plain words. If the query has phrases,
    a few words may be a part of the text that was pasted.
    """
    lower = text.strip().lower()
    if is_marked(lower) or find_hyphenated_names(text)[0]:
        return True
    if _FEW_WORDS.fullmatch(lower) and not has_phrases:
        return False
    return len(WORD.findall(lower)) > 1 and QUESTION.match(lower) is None


def read_pasted_lines(
    text: str, count_files: CountFiles, *, has_parts: bool = True
) -> list[list[PastedLine]]:
    """Return the lines of a query that may be pasted.

    Each list contains a line, followed by the parts of it that may be the message of a log line,
    longest first. Without `has_parts`, it contains only the first of these.
    """
    rows = text.split("\n")
    lines = [_strip(row, is_alone=len(rows) == 1) for row in rows]
    found = [
        (row, [part for part in split_message(line) if part.is_literal or _has_words(part.text)])
        for row, line in enumerate(lines)
        if _has_words(line)
    ]
    found = [(row, parts) for row, parts in found if parts][:_MAX_LINES]
    distinct = list(
        dict.fromkeys(word for _, parts in found for part in parts for word in _words(part.text))
    )
    if not distinct:
        return []
    total, counts = count_files(distinct)
    weights = {
        word: math.log(1 + total / count) if count else 0.0
        for word, count in zip(distinct, counts, strict=True)
    }
    return [_make_lines(row, parts, weights, has_parts=has_parts) for row, parts in found]


def find_source_lines(pasted: PastedLine, text: str) -> list[SourceLine]:
    """Return the lines of a text from which a pasted line may come, best first.

    The share of a line that contains the whole pasted line is 1.
    """
    lower = text.lower()
    if pasted.is_compound:
        return _list_sources(find_name_lines(pasted.text, lower))
    best = _find_shares(pasted, lower)
    if pasted.template is not None:
        for number, share in _find_shares(pasted.template, lower).items():
            best[number] = max(best.get(number, 0.0), share * _TEMPLATE)
    return _list_sources(best)


def _find_shares(pasted: PastedLine, lower: str) -> dict[int, float]:
    counted = [(word, pasted.weights[word]) for word in pasted.words if word in pasted.fixed]
    total = math.fsum(weight for _, weight in counted)
    least = total * pasted.min_share * 0.999  # allow for rounding errors of sums
    numbers = line_numbers(lower, _find_anchors(pasted, lower, total))
    if not numbers:
        return {}
    lines = lower.split("\n")
    best: dict[int, float] = {}
    windows: list[tuple[float, int]] = []
    for number in dict.fromkeys(numbers):
        if pasted.text in " ".join(lines[number - 1].split()):
            best[number] = 1.0
        elif pasted.is_marked:
            first = max(1, number - 1)
            near = " ".join(lines[first - 1 : first - 1 + WINDOW_LINES])
            present = sum(weight for word, weight in counted if word in near)
            if present >= least:
                windows.append((-present, first))
    for _, first in sorted(set(windows))[:_MAX_WINDOWS] if not best else ():
        window = Window(lines, first)
        chain = [
            pair
            for pair in align_words(pasted.words, pasted.weights, window.words)
            if pasted.words[pair[0]] in pasted.fixed
        ]
        share = math.fsum(pasted.weights[pasted.words[at]] for at, _ in chain) / total
        if _is_source([pasted.words[at] for at, _ in chain], share, pasted.min_share):
            number = window.main_line(pasted.weights, chain)
            if pasted.is_part:
                share *= 1 - _PER_LINE * window.count_breaks(chain)
            best[number] = max(best.get(number, 0.0), share * _ALIGNED)
    return best


def align_rows(found: Mapping[int, Mapping[int, float]]) -> dict[int, float]:
    """Return the lines of one file from which the rows of a query come, with their shares.

    `found` has the source lines of each row of the query. If several rows come from lines at the
    same distance from each other, such as those of one function, only these lines are returned.
    """
    distances = Counter(number - row for row, lines in found.items() for number in lines)
    distance, count = max(distances.items(), key=lambda pair: (pair[1], -pair[0]))
    shares: dict[int, float] = {}
    for row, lines in found.items():
        for number, share in lines.items():
            if count < 2 or number - row == distance:
                shares[number] = max(shares.get(number, 0.0), share)
    return shares


def _strip(row: str, *, is_alone: bool) -> str:
    line = row.strip()
    if not is_alone and (sign := _LINE_SIGN.match(line)) is not None:
        line = line[sign.end() :]
    return " ".join(line.strip("`").lower().split())


def _has_words(text: str) -> bool:
    least = 2 if COMPOUND.fullmatch(text) else _SHORT_WORDS if is_marked(text) else _LITERAL_WORDS
    return len(set(WORD.findall(text))) >= least


@lru_cache(_MAX_KEPT)
def _words(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(blank_generated(text))[:_MAX_WORDS])


def _make_lines(
    row: int, parts: Sequence[MessagePart], weights: Mapping[str, float], *, has_parts: bool
) -> list[PastedLine]:
    has_marks = any(is_marked(part.text) for part in parts)
    return [
        _make_line(row, part, weights, is_marked=has_marks and not part.is_literal)
        for part in (parts if has_parts else parts[:1])
    ]


def _make_line(
    row: int, part: MessagePart, weights: Mapping[str, float], *, is_marked: bool
) -> PastedLine:
    text, words = part.text, _words(part.text)
    fixed = frozenset(words) if part.is_literal else fixed_words(text) & frozenset(words)
    is_compound = COMPOUND.fullmatch(text) is not None
    line = PastedLine(
        row=row,
        text=text,
        weights={word: weights[word] for word in words},
        words=words,
        fixed=fixed,
        searched=_find_searched(words if is_compound else fixed, weights, is_all=is_compound),
        is_marked=is_marked,
        is_compound=is_compound,
        min_share=part.min_share,
    )
    if not line.is_aligned:
        return line
    template = _make_template(line)
    if not part.is_logged:
        return replace(line, template=template)
    fixed &= frozenset(WORD.findall(blank_code_values(text)))
    return template or replace(line, fixed=fixed, searched=_find_searched(fixed, weights))


def _make_template(line: PastedLine) -> PastedLine | None:
    """Return a line without values that may be a part of the message; None if little is left."""
    plain = blank_code_values(line.text)
    words = tuple(word for word in _words(plain) if word in line.weights)
    fixed = frozenset(words) & line.fixed
    searched = _find_searched(fixed, line.weights)
    if fixed == line.fixed or len(words) < _SHORT_WORDS or len(searched) < _SHORT_WORDS - 1:
        return None
    share = max(line.min_share, _TEMPLATE_SHARE)
    return replace(line, text=plain, words=words, fixed=fixed, searched=searched, min_share=share)


def _find_searched(
    words: Collection[str], weights: Mapping[str, float], *, is_all: bool = False
) -> tuple[str, ...]:
    """Return the words to look up, rarest first. Common stop words are looked up if `is_all`."""
    wanted = (
        word
        for word in dict.fromkeys(words)
        if weights[word] > 0 and (is_all or word not in STOP_WORDS or weights[word] >= _RARE_WEIGHT)
    )
    return tuple(sorted(wanted, key=lambda word: (-weights[word], word)))


def _list_sources(shares: Mapping[int, float]) -> list[SourceLine]:
    ranked = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    return [SourceLine(number, share) for number, share in ranked]


def _find_anchors(pasted: PastedLine, text: str, total: float) -> list[int]:
    """Return the positions of some words. Every source contains at least one of these words."""
    places: list[int] = []
    rest = total
    for word in pasted.searched:
        if rest < total * pasted.min_share:
            break
        found = re.finditer(re.escape(word), text)
        places += [match.start() for match in islice(found, _MAX_PLACES)]
        if not pasted.is_marked:
            break  # a source must contain every word, so one word is enough
        rest -= pasted.weights[word] * pasted.words.count(word)
    return sorted(places)


def _is_source(matched: Sequence[str], share: float, least: float) -> bool:
    if sum(word not in STOP_WORDS for word in matched) < 2:
        return False
    min_share = max(_SHORT_SHARE, least) if len(matched) < _MIN_WORDS else least
    return len(set(matched)) >= _SHORT_WORDS and share >= min_share
