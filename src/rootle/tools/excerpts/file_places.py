"""The parts of a file that may be shown: its definitions, sections and other matching spans.

A span of a search result is replaced by the innermost definition around its best line. All other
definitions with a word of the question are candidates as well, because the search may have missed
the one that answers it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from rootle.text.declared_names import (
    find_declared_macros,
    find_declared_names,
    find_declared_types,
    find_macro_lines,
)
from rootle.text.terms import find_words, split_identifier
from rootle.text.word_stems import NAME_MARK, collect_stems
from rootle.tools.excerpts.matched_words import MatchedWords
from rootle.types import Definition, FileOutline, Span

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*[?!]?")
# The first word of the name of a definition with members.
_TYPE_KINDS: Final = frozenset(
    "class enum extension impl interface module namespace object protocol record struct trait "
    "type".split()
)
# The first word of the name of a definition whose inner definitions are parts of its code, not
# members.
_FUNCTION_KINDS: Final = frozenset(
    "#define const constructor def defp fn fun func function let method proc sub var".split()
)

# A variable outside of functions is a place of its own if its name has at least _MIN_NAME_WORDS
# words of the question, or if its statement and the comment above have at least _MIN_WORDS.
_MIN_NAME_WORDS: Final = 2
_MIN_WORDS: Final = 3

# The number of names whose stems are kept: the answers to several questions show the same files.
_MAX_NAMES: Final = 16_384

LineRange = tuple[int, int]  # first and last line, from 1, both inclusive


@dataclass(frozen=True, slots=True)
class Place:
    """Consecutive lines that belong together: a definition, a section or a matching span."""

    first_line: int
    last_line: int
    name: str  # includes the enclosing definitions; empty for lines outside of definitions
    label: str = ""  # of a section that is cited by its label, such as "slide-2"
    is_comment: bool = False  # a part of the comment above the definition `name`
    is_variable: bool = False  # outside of functions, and used by other lines that are shown

    @property
    def lines(self) -> LineRange:
        """The first and the last line."""
        return self.first_line, self.last_line


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that an answer may show, and what it has in common with the question."""

    place: Place
    rank: int | None  # of its span in the result, from 0; None for other definitions
    # stems and pairs of the question that are in its lines, except in those of inner definitions
    words: frozenset[str]
    name: frozenset[str]  # stems of its name, without a word for its kind, such as "class"
    is_container: bool  # such as a class: its members are places of their own
    is_declared: bool  # the question declares its name, as in "def name(…)"
    is_named: bool  # the question contains its name, which consists of several words
    is_match: bool  # contains a match of a phrase or a regex
    is_asked: bool  # the question asks for this definition


class FilePlaces:
    """The places of one file for one question."""

    def __init__(
        self,
        outline: FileOutline,
        question: str,
        words: MatchedWords,
        matches: Mapping[int, int],
        asked: Collection[int],
        declarations: Sequence[Definition] = (),
    ) -> None:
        """Create the places of a file.

        `declarations` are its variables outside of functions, which may be places of their own.

        The keys of `matches` are the numbers of the lines that match a phrase or a regex. If the
        question asks for the definition of a name, `asked` are the lines that define the name.
        """
        self._length = len(outline.lines)
        macros = find_declared_macros(question)
        self._definitions = _add_macros(outline, macros)
        self._declarations = declarations
        self._words = words
        self._matches = matches
        self._asked = asked
        self._declared = find_declared_names(question) | macros
        self._types = find_declared_types(question)
        mentioned = find_words(question)
        self._mentioned = {name for name in mentioned if len(split_identifier(name)) > 1}

    def candidates(self, places: Iterable[Place]) -> list[Candidate]:
        """Return the distinct places of spans, and all other definitions with matching words.

        `places` are the places of the spans of a result, in the order of the spans.
        """
        spans: dict[LineRange, tuple[int, Place]] = {}
        for rank, place in enumerate(places):
            spans.setdefault(place.lines, (rank, place))
        own = self._own_words()
        found = []
        for lines, (rank, place) in spans.items():
            is_definition = lines in own and place.name and not place.is_comment
            words = (
                own[lines] if is_definition else self._words.find_in_lines(self.line_range(place))
            )
            found.append(self._candidate(place, rank, words))
        for one in self._definitions:
            lines = one.first_line, one.last_line
            if lines in own and lines not in spans:
                found.append(self._candidate(Place(*lines, one.name), None, own.pop(lines)))
        found += self._list_declared(spans)
        return found

    def _list_declared(self, spans: Collection[LineRange]) -> Iterator[Candidate]:
        """Yield the variables that have several words of the question."""
        for one in self._declarations:
            place = Place(one.first_line, one.last_line, one.name)
            words = self._words.find_in_lines(self.line_range(place))
            stems = {word for word in words if " " not in word and word[0] != NAME_MARK}
            name = _stems_of_name(_own_name(one.name))
            has_words = len(stems & name) >= _MIN_NAME_WORDS or len(stems) >= _MIN_WORDS
            if has_words and place.lines not in spans:
                yield self._candidate(place, None, words)

    def _candidate(self, place: Place, rank: int | None, words: Collection[str]) -> Candidate:
        own_name = place.name.rpartition(" > ")[2]
        kind, _, name = own_name.partition(" ")
        is_code = kind in _FUNCTION_KINDS or kind in _TYPE_KINDS
        # A name without a kind is either the name of a C function or the title of a section. If the
        # question declares it, it is the name of a function.
        is_function = kind in _FUNCTION_KINDS or (not name and own_name in self._declared)
        is_container = place.lines in self._containers and not is_function
        declared = self._types if is_container else self._declared
        simple_name = "" if place.is_comment else _own_name(place.name)
        return Candidate(
            place,
            rank,
            frozenset(words),
            _stems_of_name(name if is_code else own_name),
            is_container,
            is_declared=simple_name in declared,
            is_named=simple_name in self._mentioned,
            is_match=bool(self.matches_in(*place.lines)),
            is_asked=self.is_asked(place),
        )

    def _own_words(self) -> dict[LineRange, set[str]]:
        """Return the words in the lines of each definition, except those of inner definitions."""
        found: defaultdict[LineRange, set[str]] = defaultdict(set)
        around: list[Definition] = []  # the definitions around a line, innermost last
        following = deque(self._definitions)
        for number in self._words.numbers():
            while following and following[0].first_line <= number:
                around = [one for one in around if one.last_line >= following[0].first_line]
                around.append(following.popleft())
            while around and around[-1].last_line < number:
                around.pop()
            if around:
                lines = around[-1].first_line, around[-1].last_line
                found[lines] |= self._words.find_in_line(number)
        return dict(found)

    def line_range(self, place: Place) -> range:
        """Return the line numbers of a place, limited to the lines that the file has."""
        return range(place.first_line, min(place.last_line, self._length) + 1)

    def best_line(self, span: Span) -> int:
        """Return the line of a span that matches the question best."""
        first, last = span.start_line, max(span.start_line, min(span.end_line, self._length))
        asked = [at for at in range(first, last + 1) if at in self._asked]
        numbers = asked or self.matches_in(first, last) or range(first, last + 1)
        return max(numbers, key=lambda at: (self._words.value_of_line(at), -at), default=first)

    def definition_at(self, line: int) -> Definition | None:
        """Return the innermost definition around a line."""
        around = [one for one in self._definitions if one.first_line <= line <= one.last_line]
        return min(around, key=lambda one: one.last_line - one.first_line, default=None)

    def is_asked(self, place: Place) -> bool:
        """Return whether a place is a definition that the question asks for."""
        return place.lines in self._asked_ranges

    def matches_in(self, first: int, last: int) -> Sequence[int]:
        """Return the lines of a range that match a phrase or a regex, in ascending order."""
        numbers = self._match_numbers
        return numbers[bisect_left(numbers, first) : bisect_right(numbers, last)]

    def has_members(self, place: Place) -> bool:
        """Return whether a place is a class or a similar type that contains other definitions."""
        return is_type(place.name) and place.lines in self._containers

    def list_members(self, place: Place) -> list[Place]:
        """Return the members of a class or a similar type, in line order.

        The members of members are left out. Other places have no members.
        """
        members: list[Place] = []
        for one in self._definitions if self.has_members(place) else ():
            after = members[-1].last_line if members else place.first_line
            if after < one.first_line and one.last_line <= place.last_line:
                members.append(Place(one.first_line, one.last_line, one.name))
        return members

    def own_lines(self, place: Place) -> Sequence[int]:
        """Return the lines of a place without its members, which are places of their own.

        If none of these lines has a word of the question, return all lines.
        """
        every = self.line_range(place)
        inner = {at for member in self.list_members(place) for at in self.line_range(member)}
        own = [at for at in every if at not in inner]
        return own if any(map(self._words.find_in_line, own)) else every

    @cached_property
    def _match_numbers(self) -> Sequence[int]:
        return sorted(self._matches)

    @cached_property
    def _asked_ranges(self) -> set[LineRange]:
        found = map(self.definition_at, self._asked)
        return {(one.first_line, one.last_line) for one in found if one is not None}

    @cached_property
    def _containers(self) -> set[LineRange]:
        """The ranges of the definitions that contain other definitions."""
        pairs = pairwise(self._definitions)
        return {
            (one.first_line, one.last_line)
            for one, following in pairs
            if following.first_line <= one.last_line
        }


def _add_macros(outline: FileOutline, names: Collection[str]) -> Sequence[Definition]:
    """Return the definitions, and add those of the named macros, which the outline lacks."""
    found = find_macro_lines(outline.lines, names)
    macros = [Definition(f"#define {name}", first, last) for name, first, last in found]
    if not macros:
        return outline.definitions
    return sorted([*outline.definitions, *macros], key=lambda one: (one.first_line, -one.last_line))


def is_type(name: str) -> bool:
    """Return whether a definition is a class or a similar type: "class Log > class Segment"."""
    return name.rpartition(" > ")[2].partition(" ")[0] in _TYPE_KINDS


@lru_cache(_MAX_NAMES)
def _stems_of_name(name: str) -> frozenset[str]:
    return collect_stems(name)


def _own_name(name: str) -> str:
    """Return the last identifier of a name: "delete" for "class Log > def Segment.delete"."""
    return next(reversed(_IDENTIFIER.findall(name)), "")
