"""Exact matching: find the files that contain the phrases of a question and match its regex.

The word index stores no positions. It only finds the files that contain all words of the phrases
and the regex, whole or as parts of longer words. Then the indexed text of these files is searched.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final, NamedTuple

import numpy as np

from rootle.index.reader import IndexReader, SparseReader
from rootle.protocols import Ids
from rootle.search.query.operators import ParsedQuery, phrase_pattern
from rootle.search.query.regex_parsing import find_literals
from rootle.search.query.stem_parts import guaranteed_part
from rootle.text.terms import (
    LONG_WORD,
    MAX_WORD_CHARS,
    WORD,
    compose,
    places_before_composition,
    whole_identifier,
)

# The limits of one search. Decompressing and searching about 40 MB of code takes half a second.
MAX_FILES: Final = 20_000
MAX_SECONDS: Final = 2.0
_MATCHES_PER_FILE: Final = 5_000

Finder = Callable[[str], Sequence[int]]  # returns the positions of matches in a text
# Maps the number of each line with a match (from 1, in ascending order) to the position of the
# first match in the line (from 0).
LineFinder = Callable[[Sequence[str]], Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """The files that contain every phrase and match the regex, by descending BM25 score."""

    # Maps each file id to the positions of the matches: one sequence for each phrase and one for
    # the regex.
    places: Mapping[int, tuple[Sequence[int], ...]]
    files_read: int
    files_total: int  # the number of files that may match

    @property
    def is_truncated(self) -> bool:
        """Whether some files were not searched."""
        return self.files_read < self.files_total


def find_matches(
    parsed: ParsedQuery,
    index: IndexReader,
    allowed: Collection[int] | None,
    clock: Callable[[], float] = time.monotonic,
) -> ExactMatches:
    """Return the allowed files that contain every phrase and match the regex.

    The search stops after MAX_FILES files or MAX_SECONDS.
    """
    deadline = clock() + MAX_SECONDS

    def is_late() -> bool:
        return clock() > deadline

    finders = _finders(parsed, is_late)
    candidates = _candidate_files(parsed, index, allowed)
    places: dict[int, tuple[Sequence[int], ...]] = {}
    files_read = 0
    for file_id in islice(candidates, MAX_FILES):
        text = index.text_as_written(file_id)
        composed = compose(text)
        if found := _find_all(composed, finders):
            places[file_id] = found if composed == text else _place_before(found, composed, text)
        if is_late():  # this file may not have been searched to its end
            break
        files_read += 1
    return ExactMatches(places, files_read, len(candidates))


def line_finder(parsed: ParsedQuery, clock: Callable[[], float] = time.monotonic) -> LineFinder:
    """Return a function that finds the lines of a text that match a phrase or the regex.

    The function returns no lines if the text lacks one of the phrases or does not match the regex.
    It leaves out lines with an excluded word. A regex finds nothing more when MAX_SECONDS have
    passed since this call.
    """
    deadline = clock() + MAX_SECONDS
    finders = _finders(parsed, lambda: clock() > deadline)

    def find(lines: Sequence[str]) -> Mapping[int, int]:
        text = compose("\n".join(lines))
        lines = text.split("\n")
        found = _find_all(text, finders)
        if found is None:
            return {}
        ends = list(accumulate(len(line) + 1 for line in lines))
        columns: dict[int, int] = {}
        for start, end in sorted(_match_ranges(parsed, text, found)):
            first, last = bisect_right(ends, start) + 1, bisect_right(ends, end) + 1
            columns.setdefault(first, start - (ends[first - 2] if first > 1 else 0))
            for number in range(first + 1, last + 1):  # a phrase can continue on other lines
                columns.setdefault(number, 0)
        excluded = parsed.excluded_pattern
        return {
            number: columns[number]
            for number in sorted(columns)
            if excluded is None or not excluded.search(lines[number - 1])
        }

    return find


def chunks_with_matches(matches: ExactMatches, index: IndexReader, max_files: int) -> Ids:
    """Return the chunks in which a match begins, from the first `max_files` files.

    If all matches of a file are in blank lines, no chunk contains them. Then the chunk before the
    first match is returned, or else the first chunk.
    """
    ids: list[int] = []
    for file_id, places in islice(matches.places.items(), max_files):
        positions = sorted(at for found in places for at in found)
        rows = index.list_chunks(file_id)
        inside = [row for row in rows if _has_any(positions, row.start, row.end)]
        before = [row for row in rows if row.start <= positions[0]]
        ids += [row.id for row in inside or before[-1:] or rows[:1]]
    return np.array(ids, dtype=np.int64)


def _has_any(positions: Sequence[int], start: int, end: int) -> bool:
    """Return whether any of the sorted positions is in a range."""
    at = bisect_left(positions, start)
    return at < len(positions) and positions[at] < end


def _finders(parsed: ParsedQuery, is_late: Callable[[], bool]) -> Sequence[Finder]:
    finders = [_phrase_finder(phrase) for phrase in parsed.phrases]
    if parsed.regex is not None:
        finders.append(_regex_finder(parsed.regex, is_late))
    return finders


def _match_ranges(
    parsed: ParsedQuery, text: str, found: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Yield the first and the last position of each match of a phrase or the regex.

    A match of the regex counts as one character, because it is always within one line.
    """
    for phrase, starts in zip(parsed.phrases, found, strict=False):
        pattern = re.compile(phrase_pattern(phrase), re.IGNORECASE)
        for start in starts:
            match = pattern.match(text, start)
            yield start, start if match is None else max(start, match.end() - 1)
    for starts in found[len(parsed.phrases) :]:
        yield from ((start, start) for start in starts)


def _find_all(text: str, finders: Iterable[Finder]) -> tuple[Sequence[int], ...] | None:
    """Return the positions of each finder's matches, or None if a finder has no match."""
    found = []
    for find in finders:
        positions = find(text)
        if not positions:
            return None
        found.append(positions)
    return tuple(found)


def _place_before(
    found: Sequence[Sequence[int]], composed: str, text: str
) -> tuple[Sequence[int], ...]:
    return tuple(places_before_composition(places, composed, text) for places in found)


def _phrase_finder(phrase: str) -> Finder:
    pattern = re.compile(phrase_pattern(phrase), re.IGNORECASE)

    def find(text: str) -> Sequence[int]:
        return [match.start() for match in islice(pattern.finditer(text), _MATCHES_PER_FILE)]

    return find


def _regex_finder(regex: str, is_late: Callable[[], bool]) -> Finder:
    """Return a finder that matches line by line."""
    from rootle.search.query.regex_matching import LineRegex  # takes 4 ms to import

    pattern = LineRegex(regex)
    literals = [literal.lower() for literal in find_literals(regex)]

    def find(text: str) -> Sequence[int]:
        lower = text.lower()
        if not all(literal in lower for literal in literals):
            return []
        return list(islice(pattern.find_lines(text, is_late), _MATCHES_PER_FILE))

    return find


def _candidate_files(
    parsed: ParsedQuery, index: IndexReader, allowed: Collection[int] | None
) -> Sequence[int]:
    """Return the files that may match, by BM25.

    Files that contain all words of the phrases as whole words come first. If the phrases and the
    regex contain no word that the index can look up, all allowed files are returned, by path.
    """
    whole = [word for phrase in parsed.phrases for word in _words(phrase, index.sparse)]
    literals = find_literals(parsed.regex) if parsed.regex is not None else []
    needed = [_read_needs(text, index.sparse) for text in (*parsed.phrases, *literals)]
    terms = [term for one in needed for term in one.terms]
    parts = [part for one in needed for part in one.parts if part]
    has_pieces = any(one.parts for one in needed)
    if not terms and not parts:
        indexed = sorted((s.path, s.id) for s in index.all_files() if s.skip is None)
        return [file_id for _, file_id in indexed if allowed is None or file_id in allowed]
    limit = index.dense.count  # the number of chunks, which is at least the number of files
    first = index.sparse.files_with(whole, [], limit, allowed) if whole else []
    rest = index.sparse.files_with(terms, parts, limit, allowed)
    # A piece of a word may also be part of a word that is too long for the index.
    long = index.sparse.files_with([*terms, LONG_WORD], [], limit, allowed) if has_pieces else []
    return list(dict.fromkeys([*first, *rest, *long]))


class _Needs(NamedTuple):
    """Index terms, and parts of index terms, that every file with a certain text must contain."""

    terms: Sequence[str]  # the terms of whole words
    # A part for each word that may continue before or after the text; "" if no part is certain.
    parts: Sequence[str]


def _read_needs(text: str, index: SparseReader) -> _Needs:
    terms: list[str] = []
    parts: list[str] = []
    for match in WORD.finditer(text):
        word = whole_identifier(match.group())
        starts_word, ends_word = match.start() > 0, match.end() < len(text)
        if len(match.group()) > MAX_WORD_CHARS:
            terms.append(LONG_WORD)
        # Words that are not ASCII may be indexed as pairs of characters.
        elif word.isascii() and word and starts_word and ends_word:
            terms += index.stems(word)
        elif word.isascii() and word:
            part = guaranteed_part(word, starts_word=starts_word, ends_word=ends_word)
            parts.append(part)
    return _Needs(terms, parts)


def _words(phrase: str, index: SparseReader) -> Iterator[str]:
    """Yield the indexed terms of a phrase, as if it consisted of whole words."""
    for word in map(whole_identifier, WORD.findall(phrase)):
        if word and word.isascii() and len(word) <= MAX_WORD_CHARS:
            yield from index.stems(word)
