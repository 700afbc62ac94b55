"""Which files have the phrases of a question, or what its regular expression finds, and where.

The word index knows no positions. It names the files that have all the words, in whole or in part;
their text, as it was indexed, is then read.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final, Protocol

import numpy as np

from rootle.index.local.snapshot import Snapshot
from rootle.protocols import Ids
from rootle.search.query.regex import compile_pattern, line_chars, literals_of
from rootle.search.query.syntax import ParsedQuery, any_spacing
from rootle.text.terms import MAX_WORD_CHARS, WORD, whole_identifier

# About 40 MB of code are unpacked and looked through in half a second.
MAX_FILES: Final = 3_000
MAX_SECONDS: Final = 2.0
_PLACES_OF_FILE: Final = 50
# A stemmer may take so many letters off a word that goes on behind the phrase.
_STEMMED_AWAY: Final = 4

Finder = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """Files that have all that was asked for, those first that have its words most."""

    # By file, for each thing that was asked for the characters where it begins.
    places: Mapping[int, tuple[Sequence[int], ...]]
    files_looked_at: int
    files_in_all: int  # that may have it

    @property
    def is_cut_short(self) -> bool:
        return self.files_looked_at < self.files_in_all


def chunks_with(matches: ExactMatches, snapshot: Snapshot, limit: int) -> Ids:
    """The chunks of the first so many files in which something that was asked for begins."""
    ids: list[int] = []
    for file_id, places in islice(matches.places.items(), limit):
        every = [at for some in places for at in some]
        rows = snapshot.chunks_of(file_id)
        ids += [row.id for row in rows if any(row.start <= at < row.end for at in every)]
    return np.array(ids, dtype=np.int64)


class WordReader(Protocol):
    """The word index, as far as it is needed here."""

    def stems(self, terms: str) -> list[str]: ...
    def files_with(
        self, terms: Sequence[str], parts: Sequence[str], k: int, files: Collection[int] | None
    ) -> Sequence[int]: ...


def find_exact(
    parsed: ParsedQuery,
    snapshot: Snapshot,
    allowed: Collection[int] | None,
    clock: Callable[[], float] = time.monotonic,
) -> ExactMatches:
    """The files among the allowed ones that have every phrase and what the pattern finds."""
    deadline = clock() + MAX_SECONDS

    def is_late() -> bool:
        return clock() > deadline

    finders = [_phrase_finder(phrase) for phrase in parsed.phrases]
    if parsed.regex is not None:
        finders.append(_pattern_finder(parsed.regex, is_late))
    likely = _likely_files(parsed, snapshot, allowed)
    places: dict[int, tuple[Sequence[int], ...]] = {}
    looked_at = 0
    for file_id in islice(likely, MAX_FILES):
        if found := _places(snapshot.text(file_id), finders):
            places[file_id] = found
        if is_late():  # and perhaps not at the end of this file
            break
        looked_at += 1
    return ExactMatches(places, looked_at, len(likely))


def _places(text: str, finders: Iterable[Finder]) -> tuple[Sequence[int], ...] | None:
    """Where each thing begins; None where one of them is missing."""
    found = []
    for finder in finders:
        places = finder(text)
        if not places:
            return None
        found.append(places)
    return tuple(found)


def _phrase_finder(phrase: str) -> Finder:
    pattern = re.compile(any_spacing(phrase), re.IGNORECASE)

    def find(text: str) -> Sequence[int]:
        return [match.start() for match in islice(pattern.finditer(text), _PLACES_OF_FILE)]

    return find


def _pattern_finder(regex: str, is_late: Callable[[], bool]) -> Finder:
    """Line by line, so that no pattern can run through a whole file again and again."""
    pattern, max_chars = compile_pattern(regex), line_chars(regex)
    literals = [literal.lower() for literal in literals_of(regex)]

    def find(text: str) -> Sequence[int]:
        lower = text.lower()
        if not all(literal in lower for literal in literals):
            return []
        starts = _line_matches(pattern, max_chars, takewhile(lambda _: not is_late(), _lines(text)))
        return list(islice(starts, _PLACES_OF_FILE))

    return find


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, each with the character where it begins."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _line_matches(
    pattern: re.Pattern[str], max_chars: int, lines: Iterable[tuple[int, str]]
) -> Iterator[int]:
    for start, line in lines:
        match = pattern.search(line[:max_chars].rstrip("\r"))
        if match:
            yield start + match.start()


def _likely_files(
    parsed: ParsedQuery, snapshot: Snapshot, allowed: Collection[int] | None
) -> Sequence[int]:
    """Files that may have it all: first those with its words as they are, by their score."""
    whole, inner, edges = [], [], []
    for phrase in parsed.phrases:
        terms = _terms(phrase, snapshot.sparse)
        whole += [term for term, _ in terms]
        inner += [term for term, is_edge in terms if not is_edge]
        edges += [_core(term) for term, is_edge in terms if is_edge]
    for literal in literals_of(parsed.regex) if parsed.regex is not None else ():
        edges += [_core(term) for term, _ in _terms(literal, snapshot.sparse)]
    if not inner and not any(edges):
        states = snapshot.all_files()
        every = sorted((state.path, state.id) for state in states if state.skip is None)
        return [file_id for _, file_id in every if allowed is None or file_id in allowed]
    count = len(snapshot.dense.file_ids)
    first = snapshot.sparse.files_with(whole, [], count, allowed) if whole else []
    parts = [core for core in edges if core]
    rest = snapshot.sparse.files_with(inner, parts, count, allowed)
    return list(dict.fromkeys([*first, *rest]))


def _terms(phrase: str, index: WordReader) -> list[tuple[str, bool]]:
    """The words of a phrase as they stand in the index; True for what may be part of a word."""
    terms = []
    for match in WORD.finditer(phrase):
        word = whole_identifier(match.group())
        # Other scripts are kept as pairs of characters, very long words not at all.
        if word and word.isascii() and len(word) <= MAX_WORD_CHARS:
            is_edge = match.start() == 0 or match.end() == len(phrase)
            terms += [(stem, is_edge) for stem in index.stems(word)]
    return terms


def _core(stem: str) -> str:
    """What is left of a word whatever stands behind it in the text."""
    return stem[: max(_STEMMED_AWAY, len(stem) - _STEMMED_AWAY)]
