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
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rootle.rank.question.name_question import parse_name_question
from rootle.text.terms import STOP_WORDS
from rootle.text.whole_names import line_numbers

# Returns the number of all files, and for each word the number of files that contain it.
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
_MAX_FLAG_WORDS: Final = 5  # a query with a flag and at most this many words is about the flag
_MAX_LINES: Final = 12  # lines of a query that are searched; further lines add little
_MAX_WORDS: Final = 60  # words per line of a query
# A statement that contains a message can continue on the next lines.
_WINDOW_LINES: Final = 5
# The maximum distance of two aligned words, in words. The words in between are values that were
# filled in, or code between two parts of a message.
_MAX_GAP: Final = 8
_MAX_PLACES: Final = 400  # occurrences of a word per text
_MAX_PAIRS: Final = 100  # pairs of equal words in a line of the query and a window of a text
# The maximum number of windows of a text that are aligned: those that share the most words with the
# line. Aligning one window takes 0.5 ms.
_MAX_WINDOWS: Final = 8
# A source must have at least _MIN_WORDS words of a message, and _MIN_SHARE of its words, weighted
# by rarity. If it has only _SHORT_WORDS words, it must have _SHORT_SHARE.
_MIN_SHARE: Final = 0.6
_MIN_WORDS: Final = 4
_SHORT_WORDS: Final = 3
_SHORT_SHARE: Final = 0.75
# A text without signs of a message or of code must have this many words.
_LITERAL_WORDS: Final = 4
# Fewer plain words than that. They are neither a path nor the report of a program.
_FEW_WORDS: Final = re.compile(r"[^\W\d_]+(?:\s+[^\W\d_]+){0,2}")
# Patterns for the text around a name. They show whether the name is a part of a longer name, a
# whole string, a key or a selector.
_CONTINUED: Final = re.compile(r"[\w-]")
_BEGUN: Final = re.compile(r"\w-{0,9}$")
_OPEN_QUOTE: Final = re.compile(r"[\"'`]-{0,2}$")
_CLOSE_QUOTE: Final = re.compile(r"=?[\"'`]")
_BEFORE_KEY: Final = re.compile(r"[ \t]*(?:- )?|.*[.#]")
_MAX_BEFORE_NAME: Final = 200
# The share of a line that mentions a name, but does not have it as a string or a key.
_MENTION: Final = 0.8
# If a line has the words in the same order, but not the literal text, its share is multiplied by
# this factor.
_ALIGNED: Final = 0.95
# The weight of a word that occurs in a quarter of the files.
_RARE_WEIGHT: Final = math.log(5)
# Signs of a message or of code: characters of code, quotes around words, log levels, names of
# exceptions, absolute paths and addresses. The texts are in lower case.
_MARKED: Final = re.compile(
    r"[<>{}\[\]=%;\\|]|\w\(|\(\)|(?<!\w)[\"'`]|[\"'`](?!\w)|://|\w(?:error|exception):"
    r"|(?:^|\s)(?:error|warn|warning|fatal|panic|critical|severe)\b|(?:^|\s)/[\w.-]{1,80}/|\w@\w"
)
# Signs of a message if both occur.
_WEAK_MARKS: Final = (re.compile(r":(?:\s|$)"), re.compile(r"\b\d"))
# A message that ends with a colon and a value. A topic before a colon has fewer words.
_LONG_HEAD: Final = re.compile(r"[^:\s]+(?:\s+[^:\s]+){3,30}:\s")
# The first words of questions, which are not copied from a file.
_QUESTION: Final = re.compile(
    r"(?:how|what|where|when|which|who|whose|why|is|are|can|could|do|does|did)\b"
)
# Values that were probably filled in: numbers, paths, addresses, and one or two words in quotes.
_VALUE: Final = re.compile(r"[/@]|\b\d")
_QUOTED_VALUE: Final = re.compile(r"([\"'`])[^\s\"'`]{1,80}(?: [^\s\"'`]{1,80})?\1")
# Words that loggers add to a message.
_LOG_WORDS: Final = frozenset(
    "critical debug err error errors exception fatal info level log main msg notice panic severe "
    "trace uncaught warn warning".split()
)
# Punctuation after a time, a level, the name of a logger or the key of a message.
_CUT: Final = re.compile(r"[:\])|>=][\"']?\s+[\"']?|\s[-–]+\s|[:=][\"']")
_QUOTED: Final = re.compile(r"\"([^\"]{10,400})\"")
_MAX_VARIANTS: Final = 8
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
    if _is_marked(lower) or find_hyphenated_names(text)[0]:
        return True
    if _FEW_WORDS.fullmatch(lower) and not has_phrases:
        return False
    return len(_WORD.findall(lower)) > 1 and _QUESTION.match(lower) is None


def read_pasted_lines(text: str, count_files: CountFiles) -> list[list[PastedLine]]:
    """Return the lines of a query that may be pasted.

    Each list contains a line, followed by the parts of it that may be the message of a log line,
    longest first.
    """
    rows = text.split("\n")
    lines = [_strip(row, is_alone=len(rows) == 1) for row in rows]
    found = [
        (row, [part for part in _split_message(line) if _has_words(part)])
        for row, line in enumerate(lines)
        if _has_words(line)
    ]
    found = [(row, parts) for row, parts in found if parts][:_MAX_LINES]
    distinct = list(
        dict.fromkeys(word for _, parts in found for part in parts for word in _words(part))
    )
    if not distinct:
        return []
    total, counts = count_files(distinct)
    weights = {
        word: math.log(1 + total / count) if count else 0.0
        for word, count in zip(distinct, counts, strict=True)
    }
    return [_make_lines(row, parts, weights) for row, parts in found]


def find_hyphenated_names(text: str) -> tuple[list[str], bool]:
    """Return at most two hyphenated names in a query, and whether the query is just about a name.

    Such a query consists of a name, asks where it is defined, or has few words and a flag. In other
    queries, flags and names with several hyphens are returned.
    """
    matches = list(_HYPHENATED.finditer(text))
    names = list(dict.fromkeys(match[1] for match in matches))
    flags = {match[1] for match in matches if _is_flag(text, match)}
    if len(names) == 1 and (_asks_for_place(text, names[0]) or _is_about_flag(text, flags)):
        return names, True
    kept = [name for name in names if name in flags or name.count("-") >= _MIN_HYPHENS]
    return kept[:_MAX_NAMES], False


def _asks_for_place(text: str, name: str) -> bool:
    """Return whether a query is just a hyphenated name, or asks where this name is defined."""
    identifier = name.replace("-", "_")
    asked = parse_name_question(re.sub(rf"-{{0,2}}{re.escape(name)}", identifier, text))
    return asked is not None and asked.name == identifier and asked.aspect == "definitions"


def _is_about_flag(text: str, flags: Collection[str]) -> bool:
    return bool(flags) and len(text.split()) <= _MAX_FLAG_WORDS


def _is_flag(text: str, match: re.Match[str]) -> bool:
    """Return whether hyphens come before a name, or an equals sign after it."""
    return match[0].startswith("-") or text[match.end() : match.end() + 1] == "="


def find_source_lines(pasted: PastedLine, text: str) -> list[SourceLine]:
    """Return the lines of a text from which a pasted line may come, best first.

    The share of a line that contains the whole pasted line is 1.
    """
    lower = text.lower()
    if pasted.is_compound:
        return _find_name(pasted.text, lower)
    counted = [(word, pasted.weights[word]) for word in pasted.words if word in pasted.fixed]
    total = math.fsum(weight for _, weight in counted)
    least = total * _MIN_SHARE * 0.999  # allow for rounding errors of sums
    numbers = line_numbers(lower, _find_anchors(pasted, lower, total))
    if not numbers:
        return []
    lines = lower.split("\n")
    best: dict[int, float] = {}
    windows: list[tuple[float, int]] = []
    for number in dict.fromkeys(numbers):
        if pasted.text in " ".join(lines[number - 1].split()):
            best[number] = 1.0
        elif pasted.is_marked:
            first = max(1, number - 1)
            near = " ".join(lines[first - 1 : first - 1 + _WINDOW_LINES])
            present = sum(weight for word, weight in counted if word in near)
            if present >= least:
                windows.append((-present, first))
    for _, first in sorted(set(windows))[:_MAX_WINDOWS] if not best else ():
        window = _Window(lines, first)
        chain = [
            pair for pair in _align(pasted, window.words) if pasted.words[pair[0]] in pasted.fixed
        ]
        share = math.fsum(pasted.weights[pasted.words[at]] for at, _ in chain) / total
        if _is_source([pasted.words[at] for at, _ in chain], share):
            number = window.main_line(pasted, chain)
            best[number] = max(best.get(number, 0.0), share * _ALIGNED)
    return _list_sources(best)


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
    least = 2 if _COMPOUND.fullmatch(text) else _SHORT_WORDS if _is_marked(text) else _LITERAL_WORDS
    return len(set(_WORD.findall(text))) >= least


def _is_marked(text: str) -> bool:
    if _MARKED.search(text) is not None or _LONG_HEAD.match(text) is not None:
        return True
    return all(mark.search(text) for mark in _WEAK_MARKS)


def _split_message(line: str) -> list[str]:
    """Return a line, the text after each punctuation mark of a logger, and the parts in quotes."""
    if not _is_marked(line):
        return [] if _QUESTION.match(line) else [line]
    tails = [line[cut.end() :].strip(" \"'") for cut in islice(_CUT.finditer(line), _MAX_VARIANTS)]
    quoted = [match[1] for match in islice(_QUOTED.finditer(line), _MAX_VARIANTS)]
    parts = [part for part in (*tails, *quoted) if not _COMPOUND.fullmatch(part)]
    return list(dict.fromkeys([line, *sorted(parts, key=lambda part: -len(part))]))[:_MAX_VARIANTS]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text)[:_MAX_WORDS])


def _make_lines(row: int, parts: Sequence[str], weights: Mapping[str, float]) -> list[PastedLine]:
    is_marked = _is_marked(parts[0])
    return [_make_line(row, part, weights, is_marked=is_marked) for part in parts]


def _make_line(row: int, text: str, weights: Mapping[str, float], *, is_marked: bool) -> PastedLine:
    words = _words(text)
    plain = _QUOTED_VALUE.sub(" ", text)
    kept = " ".join(part for part in plain.split() if not _VALUE.search(part))
    fixed = frozenset(_WORD.findall(kept)) & frozenset(words) - _LOG_WORDS
    is_compound = _COMPOUND.fullmatch(text) is not None
    common = {word for word in STOP_WORDS.intersection(words) if weights[word] < _RARE_WEIGHT}
    needed = words if is_compound else [word for word in words if word in fixed - common]
    searched = sorted(
        (word for word in dict.fromkeys(needed) if weights[word] > 0),
        key=lambda word: -weights[word],
    )
    own = {word: weights[word] for word in words}
    return PastedLine(row, text, own, words, fixed, tuple(searched), is_marked, is_compound)


def _list_sources(shares: Mapping[int, float]) -> list[SourceLine]:
    ranked = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    return [SourceLine(number, share) for number, share in ranked]


def _find_name(name: str, text: str) -> list[SourceLine]:
    """Return the lines with a whole name in a lower-case text. Strings and keys come first."""
    starts = [match.start() for match in islice(re.finditer(re.escape(name), text), _MAX_PLACES)]
    best: dict[int, float] = {}
    for number, start in zip(line_numbers(text, starts), starts, strict=True):
        before = text[text.rfind("\n", 0, start) + 1 : start][-_MAX_BEFORE_NAME:]
        after = text[start + len(name) : start + len(name) + 2]
        if not _CONTINUED.match(after) and not _BEGUN.search(before):
            is_string = _OPEN_QUOTE.search(before) and _CLOSE_QUOTE.match(after)
            is_named = bool(is_string) or _BEFORE_KEY.fullmatch(before) is not None
            best[number] = max(best.get(number, 0.0), 1.0 if is_named else _MENTION)
    return _list_sources(best)


def _find_anchors(pasted: PastedLine, text: str, total: float) -> list[int]:
    """Return the positions of some words, at least one of which every source contains."""
    places: list[int] = []
    rest = total
    for word in pasted.searched:
        if rest < total * _MIN_SHARE:
            break
        found = re.finditer(re.escape(word), text)
        places += [match.start() for match in islice(found, _MAX_PLACES)]
        if not pasted.is_marked:
            break  # a source must contain every word, so one word is enough
        rest -= pasted.weights[word] * pasted.words.count(word)
    return sorted(places)


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

    Each pair contains a position in the pasted line and a position in the words of the window.
    """
    places: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        if word in pasted.weights:
            places.setdefault(word, []).append(at)
    pairs = [(i, j) for i, word in enumerate(pasted.words) for j in places.get(word, ())]
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
        best.append((weight + pasted.weights[pasted.words[i]], before))
    chain = []
    at = max(range(len(best)), key=lambda at: best[at][0], default=-1)
    while at >= 0:
        chain.append(pairs[at])
        at = best[at][1]
    return chain[::-1]


def _is_source(matched: Sequence[str], share: float) -> bool:
    if sum(word not in STOP_WORDS for word in matched) < 2:
        return False
    min_share = _SHORT_SHARE if len(matched) < _MIN_WORDS else _MIN_SHARE
    return len(matched) >= _SHORT_WORDS and share >= min_share
