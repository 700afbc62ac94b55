"""Choose how many and which lines of each result an agent receives.

The number of characters is limited for each result. A definition that fits, or nearly fits, is
shown whole. Of a longer definition, an agent receives the signature and the consecutive lines that
match the question best: the sum of the weights of their words is the largest, and rare words weigh
more. If the question contains a phrase or a regex, lines that match it take precedence. If the
question asks where a name is defined, the definition comes first and is shown from its beginning.
The outline does not contain some definitions, such as fields. For these, the line with the name is
shown with the comment above it.

Words are stored in sets, whose order differs between processes. Therefore their weights are added
with `math.fsum`, whose result does not depend on the order. Otherwise, because of rounding errors,
two processes could choose different places that have the same value.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from rootle.text.declared_names import find_declared_names
from rootle.text.definition_head import find_comment_start, find_signature
from rootle.text.terms import encodable
from rootle.text.word_stems import find_stems, stems_of
from rootle.types import Definition, FileOutline, Span

# Maximum number of characters for the lines of a result. The values were chosen on the tune split
# of the labels (benchmarks/quality/answer_reading.py).
_CLEAR_ROOM: Final = 900  # the first result, if the second result is shown without lines
_FIRST_ROOM: Final = 600  # the first result, if the second result is shown with lines
_SECOND_ROOM: Final = 400  # the second result, if it is shown with lines
_WEAK_ROOM: Final = 600  # the first result of an answer with low confidence
# The second result is shown with lines if its score is at least this share of the first score.
_NEAR: Final = 0.2
# Longer lines are truncated, because they are usually data or generated code.
_MAX_LINE_CHARS: Final = 240
# Places of a file are ordered by the weighted share of the question's words that they contain. The
# following values are added to the share or subtracted from it.
_SPAN_VALUE: Final = 1.0  # added for the first span of a result; less is added for later spans
_NAME_VALUE: Final = 0.5  # added if all words of the name are in the question and in the place
_DECLARED_VALUE: Final = 0.5  # added for a name that the question declares, as in "def name(…)"
_CONTAINER_LOSS: Final = 1.0  # subtracted for a definition that contains others, such as a class
_UNNAMED_LOSS: Final = 0.3  # subtracted for lines outside of definitions
_MATCH_VALUE: Final = 10.0  # added for a match of a phrase or a regex: more than all other values
# A window, which is the range of lines that is shown, may begin at most this many lines before a
# match.
_LINES_BEFORE_MATCH: Final = 2
# The weight of a repeated word in an excerpt, relative to its first occurrence.
_REPEATED: Final = 0.2
# The maximum number of lines by which a window is shortened to end at the end of a statement.
_MAX_TRIMMED_LINES: Final = 3
# A definition is shown whole if it takes at most this many times the allowed characters, because an
# agent would need another call to read the rest.
_STRETCH: Final = 1.5
# Gaps of at most this many lines are filled, because a note about lines that are left out takes as
# much space as two short lines.
_MAX_CLOSED_GAP: Final = 2
# The minimum number of lines of an excerpt of a definition. A shorter excerpt explains too little.
_MIN_LINES: Final = 3
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*[?!]?")
_NO_STEMS: Final = frozenset[str]()
_NO_MATCHES: Final[Mapping[int, int]] = {}

LineNumbers = tuple[int, ...]  # ascending, from 1


@dataclass(frozen=True, slots=True)
class Place:
    """Consecutive lines that belong together: a definition, a section or a matching span."""

    first_line: int
    last_line: int
    name: str  # includes the enclosing definitions; empty for lines outside of definitions
    label: str = ""  # of a section that is cited by its label, such as "slide-2"
    is_comment: bool = False  # a part of the comment above the definition `name`


def limit_characters(is_weak: bool, scores: Sequence[float]) -> list[int]:
    """Return the number of characters for the lines of each result; 0 for a result in one line.

    `scores` are the scores of the results, best first. `is_weak` is set for an answer with low
    confidence.
    """
    if is_weak:
        rooms = [_WEAK_ROOM]
    elif len(scores) > 1 and scores[1] >= _NEAR * scores[0]:
        rooms = [_FIRST_ROOM, _SECOND_ROOM]
    else:
        rooms = [_CLEAR_ROOM]
    return [*rooms, *[0] * len(scores)][: len(scores)]


class FileExcerpts:
    """Chooses lines of one file for one question."""

    def __init__(
        self,
        outline: FileOutline,
        question: str,
        matches: Mapping[int, int] = _NO_MATCHES,
        excluded: Collection[int] = (),
        asked: Collection[int] = (),
    ) -> None:
        """Create the excerpts of a file.

        `matches` contains the lines that match a phrase or a regex. It maps their numbers, in
        ascending order, to the position of the first match in the line. The lines in `excluded` are
        never chosen. If the question asks for the definition of a name, `asked` are the lines that
        define the name.
        """
        self._excluded = excluded
        self._asked = asked
        self._lines = outline.lines
        self._definitions = outline.definitions
        self._stems = stems_of(question)
        self._declared = find_declared_names(question)
        self._matches = matches

    @property
    def matches(self) -> Sequence[int]:
        """The numbers of the lines that match a phrase or a regex, in ascending order."""
        return list(self._matches)

    def places(self, spans: Sequence[Span]) -> list[Place]:
        """Return the places that contain the spans of a result, best first.

        The order depends on the order of the spans, and on the words of the question that occur in
        each place and in its name.
        """
        places: dict[tuple[int, int], tuple[float, Place]] = {}
        for rank, span in enumerate(spans):
            place = self._place_of(span)
            value = _SPAN_VALUE / (1 + rank) + self._value_of_place(place)
            places.setdefault((place.first_line, place.last_line), (value, place))
        ranked = sorted(places.values(), key=lambda pair: (not self._is_asked(pair[1]), -pair[0]))
        return [place for _, place in ranked]

    def contains(self, span: Span) -> bool:
        """Return whether the lines of a span are still in the file, with the same numbers."""
        found = self._lines[span.start_line - 1 : span.end_line]
        return [line.rstrip("\r") for line in span.snippet.split("\n")] == list(found)

    def choose(self, place: Place, room: int) -> LineNumbers:
        """Return the lines of a place that an answer shows in about `room` characters.

        A place that takes at most `_STRETCH` times `room` is shown whole. Return no lines if not
        even one fits.
        """
        return tuple(at for at in self._choose_any(place, room) if at not in self._excluded)

    def _choose_any(self, place: Place, room: int) -> LineNumbers:
        numbers = range(place.first_line, min(place.last_line, len(self._lines)) + 1)
        if self.size(numbers) <= room * _STRETCH:
            return tuple(numbers)
        head = self._head(place)
        window = self._best_window(place, head, room - self.size(head))
        is_short = len(window) < min(_MIN_LINES, len(numbers))
        if is_short and window[-1:] != (numbers[-1],):
            window = self._best_window(place, head := [], room)
        return self._close_gaps(sorted({*head, *window}), numbers[-1])

    def _close_gaps(self, chosen: Sequence[int], last: int) -> LineNumbers:
        """Return the chosen lines, and the lines in short gaps between them and before the end."""
        ends = [*chosen, last + 1]
        gaps = [range(before + 1, after) for before, after in pairwise(ends)]
        short = {number for gap in gaps if len(gap) <= _MAX_CLOSED_GAP for number in gap}
        return tuple(sorted({*chosen, *short}))

    def size(self, numbers: Iterable[int]) -> int:
        """Return the number of characters that lines take in an answer, including line numbers."""
        width = len(str(len(self._lines)))
        return sum(width + 3 + len(self.line(number)) for number in numbers)

    def line(self, number: int) -> str:
        """Return a line in the form that is shown, without its number."""
        text = encodable(self._lines[number - 1].rstrip())
        if len(text) <= _MAX_LINE_CHARS:
            return text
        # Cut a long line so that the excerpt contains its first match.
        start = max(0, self._matches.get(number, 0) - _MAX_LINE_CHARS // 2)
        before = f"({start} characters) …" if start else ""
        more = len(text) - start - _MAX_LINE_CHARS
        after = f"… ({more} more characters)" if more > 0 else ""
        return f"{before}{text[start : start + _MAX_LINE_CHARS]}{after}"

    def _place_of(self, span: Span) -> Place:
        first, last = span.start_line, max(span.start_line, min(span.end_line, len(self._lines)))
        asked = [at for at in range(first, last + 1) if at in self._asked]
        numbers = asked or self._matches_in(first, last) or range(first, last + 1)
        best = max(numbers, key=lambda at: (self._value(at), -at), default=first)
        inner = self._definition_at(best)
        if span.place is not None or inner is None:
            return Place(first, last, span.scope, span.place or "")
        if self._is_in_long_comment(last, inner):
            return Place(max(first, inner.first_line), last, inner.name, is_comment=True)
        return Place(inner.first_line, inner.last_line, inner.name)

    def _is_in_long_comment(self, last: int, definition: Definition) -> bool:
        """Return whether a span that ends at `last` is part of the comment above a definition.

        If the definition can be shown whole, it includes the comment, so the result is False.
        """
        first, end = definition.first_line, min(definition.last_line, len(self._lines))
        if last >= find_signature(self._lines, (first, end))[0]:
            return False
        return self.size(range(first, end + 1)) > _CLEAR_ROOM * _STRETCH

    def _definition_at(self, line: int) -> Definition | None:
        """Return the innermost definition around a line."""
        around = [one for one in self._definitions if one.first_line <= line <= one.last_line]
        return min(around, key=lambda one: one.last_line - one.first_line, default=None)

    def _is_asked(self, place: Place) -> bool:
        """Return whether a place is a definition that the question asks for."""
        return (place.first_line, place.last_line) in self._asked_ranges

    @cached_property
    def _asked_ranges(self) -> set[tuple[int, int]]:
        found = map(self._definition_at, self._asked)
        return {(one.first_line, one.last_line) for one in found if one is not None}

    def _matches_in(self, first: int, last: int) -> Sequence[int]:
        return [number for number in self._matches if first <= number <= last]

    def _value_of_place(self, place: Place) -> float:
        """Return the part of a place's score that does not depend on the order of the spans."""
        has_match = bool(self._matches_in(place.first_line, place.last_line))
        return self._value_of_words(place) + (_MATCH_VALUE if has_match else 0.0)

    def _value_of_words(self, place: Place) -> float:
        total = math.fsum(self._weights.values())
        if not total:
            return 0.0
        lines = range(place.first_line, min(place.last_line, len(self._lines)) + 1)
        words = {stem for number in lines for stem in self._stems_in(number)}
        value = math.fsum(self._weights[stem] for stem in words) / total
        name = stems_of(place.name.rpartition(" > ")[2])
        if name:
            value += _NAME_VALUE * len(name & words) / len(name)
        if self._is_declared(place):
            value += _DECLARED_VALUE
        if not place.name:
            return value - _UNNAMED_LOSS
        is_container = (place.first_line, place.last_line) in self._containers
        return value - (_CONTAINER_LOSS if is_container else 0.0)

    def _is_declared(self, place: Place) -> bool:
        """Return whether the question declares the name of a place."""
        return not place.is_comment and _own_name(place.name) in self._declared

    @cached_property
    def _containers(self) -> set[tuple[int, int]]:
        """The ranges of the definitions that contain other definitions."""
        pairs = pairwise(self._definitions)
        return {
            (one.first_line, one.last_line)
            for one, following in pairs
            if following.first_line <= one.last_line
        }

    def _head(self, place: Place) -> list[int]:
        """Return the line numbers of the signature of a definition."""
        if not place.name or place.is_comment:
            return []
        first, last = find_signature(self._lines, (place.first_line, place.last_line))
        return list(range(first, last + 1))

    def _best_window(self, place: Place, head: Sequence[int], room: int) -> LineNumbers:
        """Return the consecutive lines after the head that match the question best."""
        best: tuple[tuple[int, float], LineNumbers] = ((0, -1.0), ())
        shown = {stem for number in head for stem in self._stems_in(number)}
        for start in self._window_starts(place, head):
            # If the last statement does not fit, it is not shown, and its words do not count.
            window = self._trim(self._fill(start, place.last_line, room), place.last_line)
            count = sum(number in self._matches or number in self._asked for number in window)
            value = count, self._value_of_window(window, shown)
            if value > best[0]:
                best = value, window
        return best[1]

    def _window_starts(self, place: Place, head: Sequence[int]) -> list[int]:
        """Return the lines after the head at which a window may start.

        They are the first lines of statements that contain a word of the question; if there are
        none, the first statement. Lines that match a phrase or a regex, and the lines just before
        them, are added. If the question asks for this definition, return its first statement. If it
        asks for a field, return the line of the field and the start of the comment above.
        """
        first = max(head) + 1 if head else place.first_line
        last = min(place.last_line, len(self._lines))
        starts = [at for at in range(first, last + 1) if self._starts_statement(at, first)]
        if self._is_asked(place):
            asked = [at for at in self._asked if place.first_line <= at <= last]
            if any(at < first for at in asked):
                return starts[:1]
            return sorted({*asked, *(find_comment_start(self._lines, at) for at in asked)})
        statements = pairwise([*starts, last + 1])
        matching = [at for at, end in statements if any(map(self._stems_in, range(at, end)))]
        starts = matching or starts[:1]
        if not self._matches:
            return starts
        distances = range(_LINES_BEFORE_MATCH + 1)
        before = {at - distance for at in self._matches_in(first, last) for distance in distances}
        return sorted({*starts, *(at for at in before if at >= first)})

    def _starts_statement(self, number: int, first: int) -> bool:
        text = self._lines[number - 1]
        if not text.strip():
            return False
        before = self._lines[number - 2] if number > 1 else ""
        if number == first or not before.strip():
            return True
        return _indentation(text) <= _indentation(before) and text.lstrip()[0] not in ")]}"

    def _fill(self, start: int, last: int, room: int) -> LineNumbers:
        numbers = []
        for number in range(start, min(last, len(self._lines)) + 1):
            room -= self.size((number,))
            if room < 0:
                break
            numbers.append(number)
        return tuple(numbers)

    def _value_of_window(self, window: LineNumbers, shown: Collection[str]) -> float:
        seen = set(shown)
        values = []
        for number in window:
            for stem in self._stems_in(number):
                values.append(self._weights[stem] * (_REPEATED if stem in seen else 1.0))
                seen.add(stem)
        return math.fsum(values)

    def _trim(self, window: LineNumbers, last: int) -> LineNumbers:
        """Return a window without its last statement if the end of the statement did not fit."""
        for end in range(len(window), max(_MIN_LINES, len(window) - _MAX_TRIMMED_LINES) - 1, -1):
            if any(number in self._matches for number in window[end:]):
                return window
            following = window[end - 1] + 1
            if following > last or self._starts_statement(following, 0):
                return window[:end]
        return window

    def _value(self, number: int) -> float:
        return math.fsum(self._weights[stem] for stem in self._stems_in(number))

    def _stems_in(self, number: int) -> frozenset[str]:
        return self._stems_of_lines.get(number, _NO_STEMS)

    @cached_property
    def _stems_of_lines(self) -> Mapping[int, frozenset[str]]:
        return find_stems(self._lines, self._stems)

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        """The weight of each word of the question; words that are rare in the file weigh more."""
        counts = Counter(stem for stems in self._stems_of_lines.values() for stem in stems)
        total = len(self._lines)
        return {stem: math.log(1 + total / count) for stem, count in counts.items()}


def _own_name(name: str) -> str:
    """Return the last identifier of a name: "delete" for "class Log > def Segment.delete"."""
    return next(reversed(_IDENTIFIER.findall(name)), "")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
