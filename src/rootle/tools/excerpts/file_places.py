"""Order the parts of a file that may be shown: its definitions, sections and other matching spans.

A span of a search result is replaced by the innermost definition around its best line. The order
depends on the order of the spans, on the words of the question that occur in a place and in its
name, and on the names that the question declares.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from rootle.text.declared_names import find_declared_names, find_declared_types
from rootle.text.word_stems import stems_of
from rootle.tools.excerpts.matched_words import MatchedWords
from rootle.types import Definition, FileOutline, Span

# The value of a place is the weighted share of the question's words that it contains. The following
# values are added to the share or subtracted from it.
_SPAN_VALUE: Final = 1.0  # added for the first span of a result; less is added for later spans
_NAME_VALUE: Final = 0.5  # added; less if the question or the place lacks a word of the name
_DECLARED_VALUE: Final = 0.5  # added for a name that the question declares, as in "def name(…)"
_CONTAINER_LOSS: Final = 1.0  # subtracted for a definition that contains others, such as a class
_UNNAMED_LOSS: Final = 0.3  # subtracted for lines outside of definitions
_MATCH_VALUE: Final = 10.0  # added for a match of a phrase or a regex: more than all other values
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*[?!]?")
# The first word of the name of a definition with members.
_TYPE_KINDS: Final = frozenset(
    "class enum extension impl interface module namespace object protocol record struct trait "
    "type".split()
)

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


class FilePlaces:
    """The places of one file, and their values for one question."""

    def __init__(
        self,
        outline: FileOutline,
        question: str,
        words: MatchedWords,
        matches: Mapping[int, int],
        asked: Collection[int],
    ) -> None:
        """Create the places of a file.

        The keys of `matches` are the numbers of the lines that match a phrase or a regex. If the
        question asks for the definition of a name, `asked` are the lines that define the name.
        """
        self._length = len(outline.lines)
        self._definitions = outline.definitions
        self._words = words
        self._matches = matches
        self._asked = asked
        self._declared = find_declared_names(question)
        self._types = find_declared_types(question)

    def rank(self, places: Iterable[Place]) -> list[Place]:
        """Return the distinct places of some spans and the members of the best one, best first.

        `places` are the places of the spans of a result, in the order of the spans.
        """
        values: dict[LineRange, tuple[float, Place]] = {}
        for rank, place in enumerate(places):
            value = _SPAN_VALUE / (1 + rank) + self.value_of(place)
            values.setdefault(place.lines, (value, place))
        first, *_ = self._sort(values.values())
        for place in self.members_of(first):
            values.setdefault(place.lines, (self.value_of(place), place))
        del values[first.lines]
        return [first, *self._sort(values.values())]

    def _sort(self, values: Iterable[tuple[float, Place]]) -> list[Place]:
        ranked = sorted(values, key=lambda pair: (not self.is_asked(pair[1]), -pair[0]))
        return [place for _, place in ranked]

    def lines_of(self, place: Place) -> range:
        """Return the numbers of the lines of a place that are in the file."""
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
        return [number for number in self._matches if first <= number <= last]

    def value_of(self, place: Place) -> float:
        """Return the value of a place without the part for the rank of its span."""
        lines = self.lines_of(place)
        value = self._words.share_in(lines) + self._value_of_name(place)
        if self.matches_in(place.first_line, place.last_line):
            value += _MATCH_VALUE
        if not place.name:
            return value - _UNNAMED_LOSS
        if place.lines not in self._containers:
            return value
        is_declared = _own_name(place.name) in self._types
        return value + (_DECLARED_VALUE if is_declared else -_CONTAINER_LOSS)

    def has_members(self, place: Place) -> bool:
        """Return whether a place is a class or a similar type that contains other definitions."""
        return is_type(place.name) and place.lines in self._containers

    def members_of(self, place: Place) -> list[Place]:
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
        every = self.lines_of(place)
        inner = {at for member in self.members_of(place) for at in self.lines_of(member)}
        own = [at for at in every if at not in inner]
        return own if any(map(self._words.in_line, own)) else every

    def _value_of_name(self, place: Place) -> float:
        """Return the part of the value that comes from the name of a place."""
        value = 0.0
        name = stems_of(place.name.rpartition(" > ")[2])
        if name:
            found = name & self._words.in_lines(self.lines_of(place))
            value += _NAME_VALUE * len(found) / len(name)
        if not place.is_comment and _own_name(place.name) in self._declared:
            value += _DECLARED_VALUE
        return value

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


def is_type(name: str) -> bool:
    """Return whether a definition is a class or a similar type: "class Log > class Segment"."""
    return name.rpartition(" > ")[2].partition(" ")[0] in _TYPE_KINDS


def _own_name(name: str) -> str:
    """Return the last identifier of a name: "delete" for "class Log > def Segment.delete"."""
    return next(reversed(_IDENTIFIER.findall(name)), "")
