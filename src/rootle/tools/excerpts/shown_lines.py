"""Choose which lines of a place an agent receives.

A definition that fits into the characters for a place, or nearly fits, is shown whole. Of a longer
definition, an agent receives the signature, the first lines of the docstring and the consecutive
lines that match the question best. These are the lines with the largest sum of the weights of their
words, where rare words weigh more. If the question contains a phrase or a regex, lines that match
it take precedence. If the question asks where a name is defined, the definition is shown from its
beginning. The outline does not contain some definitions, such as fields. For these, the line with
the name is shown with the comment above it. A table row that describes the option named in the
question is a place of its own.

Variables that the chosen lines use, such as a table or a limit, come next if they are defined
outside of functions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rootle.serialization.path_text import cut_line
from rootle.text.definition_head import find_comment_start, find_head, find_signature, indentation
from rootle.text.languages import CODE_EXTENSIONS, file_language
from rootle.text.markdown.table_rows import compact_row, find_named_row, is_row, read_row_name
from rootle.text.terms import encodable
from rootle.text.word_stems import collect_stems
from rootle.tools.excerpts.file_places import Candidate, FilePlaces, Place
from rootle.tools.excerpts.matched_words import MatchedWords
from rootle.tools.excerpts.used_variables import (
    find_declarations,
    find_used_variables,
    is_constant,
)
from rootle.types import Definition, FileOutline, Span

# Maximum number of characters for the lines of a result. The values were chosen on the tune splits
# of the labels (benchmarks/quality/answer_reading.py) and of the large repositories.
_CLEAR_ROOM: Final = 1150  # the first result, if the second one has no characters
_FIRST_ROOM: Final = 760  # the first result, if the second one has characters
_SECOND_ROOM: Final = 400  # the second result
_WEAK_ROOM: Final = 600  # the first result of an answer with low confidence
# The second result has characters if its score is at least this share of the first score.
_NEAR: Final = 0.2
# Maximum number of additional characters for the variables that the shown lines use, and maximum
# number of these variables.
_USED_ROOM: Final = 320
_MAX_USED: Final = 2
# Longer lines are truncated, because they are usually data or generated code.
_MAX_LINE_CHARS: Final = 240
# The meaning and the default of an option are at the end of its row.
_MAX_ROW_CHARS: Final = 480
# A window, which is the range of lines that is shown, may begin at most this many lines before a
# match.
_LINES_BEFORE_MATCH: Final = 2
# The maximum number of lines by which a window is shortened so that it ends with a whole statement.
_MAX_TRIMMED_LINES: Final = 3
# A definition is shown whole if it takes at most this many times the allowed characters, because an
# agent would need another call to read the rest.
_STRETCH: Final = 1.5
# A gap of at most this many lines is filled, because a note about lines that are left out takes as
# much space as two short lines. If the lines in a gap are short, it may be one line longer.
_MAX_CLOSED_GAP: Final = 2
_MAX_CLOSED_CHARS: Final = 140
# The minimum number of lines of an excerpt of a definition. A shorter excerpt explains too little.
_MIN_LINES: Final = 3
# The number of lines of a docstring that are shown with the signature of a long function, so that
# the window can show what the docstring does not say.
_DOCSTRING_LINES: Final = 3
# The line before the first statement of a block, and a line that continues an `if` or a `try`.
_BLOCK_START: Final = re.compile(r"(?:[{:]|\b(?:do|then|else|begin)|[-=]>|\|)\s*$")
_BRANCH: Final = re.compile(r"\s*\}\s*(?:else|catch|finally)\b")
_NO_MATCHES: Final[Mapping[int, int]] = {}

LineNumbers = tuple[int, ...]  # ascending, from 1


def limit_characters(is_weak: bool, scores: Sequence[float]) -> list[int]:
    """Return the maximum number of characters for the lines of each result; files share the sum.

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

        `matches` maps the numbers of the lines that match a phrase or a regex, in ascending order,
        to the position of the first match in the line. The lines in `excluded` are never chosen. If
        the question asks for the definition of a name, `asked` are the lines that define the name.
        """
        self._excluded = excluded
        self._asked = asked
        self._is_markdown = file_language(outline.path) == "markdown"
        self._lines = outline.lines
        self._sizes: dict[int, int] = {}  # by line number: windows overlap
        row = find_named_row(outline.lines, question) if self._is_markdown else None
        self._named_row = None if row is None else row + 1
        self._definitions = outline.definitions
        self._matches = matches
        is_code = file_language(outline.path) in CODE_EXTENSIONS
        self._words = MatchedWords(outline.lines, question, is_code=is_code)
        declared = list(find_declarations(outline.lines, outline.definitions))
        self._places = FilePlaces(outline, question, self._words, matches, asked, declared)

    @property
    def matches(self) -> Sequence[int]:
        """The numbers of the lines that match a phrase or a regex, in ascending order."""
        return list(self._matches)

    def candidates(self, spans: Sequence[Span]) -> list[Candidate]:
        """Return the places that contain the spans of a result, and the other definitions."""
        found = self._places.candidates(map(self._find_place, spans))
        row = self._named_row
        if row is None:
            return found
        name = collect_stems(read_row_name(self._lines[row - 1]))
        return [
            replace(one, name=name, is_declared=True) if one.place.lines == (row, row) else one
            for one in found
        ]

    def line_range(self, place: Place) -> range:
        """Return the numbers of the lines of a place."""
        return self._places.line_range(place)

    def matches_in(self, place: Place) -> Sequence[int]:
        """Return the lines of a place that match a phrase or a regex, in ascending order."""
        return self._places.matches_in(*place.lines)

    def choose_used(self, shown: Collection[int]) -> list[tuple[Place, LineNumbers]]:
        """Return the variables outside of functions that the `shown` lines use, best first."""
        found = find_used_variables(self._lines, self._definitions, shown)
        every = [Place(one.first_line, one.last_line, one.name, is_variable=True) for one in found]
        shares = {place: self._words.share_in(self._places.line_range(place)) for place in every}
        places = [place for place in every if shares[place] or is_constant(place.name)]
        places.sort(key=lambda place: -shares[place])
        chosen: list[tuple[Place, LineNumbers]] = []
        room = _USED_ROOM
        for place in places[:_MAX_USED]:
            numbers = tuple(at for at in self._places.line_range(place) if at not in self._excluded)
            room -= self.size(numbers)
            if room >= 0 and numbers:
                chosen.append((place, numbers))
        return chosen

    def contains(self, span: Span) -> bool:
        """Return whether the lines of a span are still in the file, with the same numbers."""
        found = self._lines[span.start_line - 1 : span.end_line]
        return [line.rstrip("\r") for line in span.snippet.split("\n")] == list(found)

    def choose(self, place: Place, room: int, shown: Collection[int] = ()) -> LineNumbers:
        """Return the lines of a place that an answer shows in about `room` characters.

        A place that takes at most `_STRETCH` times `room` is shown whole. The lines in `shown` are
        left out. Return no lines if not even one fits.
        """
        left_out = {*self._excluded, *shown}
        return tuple(at for at in self._choose_any(place, room, shown) if at not in left_out)

    def _choose_any(self, place: Place, room: int, shown: Collection[int]) -> LineNumbers:
        numbers = self._places.line_range(place)
        if self.size(at for at in numbers if at not in shown) <= room * _STRETCH:
            return tuple(numbers)
        head = self._head(place)
        # The longest head that leaves enough room: all of it, its first line, or nothing.
        for kept in (head, head[:1], []):
            window = self._best_window(place, kept, room - self.size(kept), shown)
            is_short = len(window) < min(_MIN_LINES, len(numbers)) and window[-1:] != (numbers[-1],)
            if not is_short or self._places.has_members(place):
                break
        return self._close_gaps(sorted({*kept, *window}), numbers[-1])

    def _close_gaps(self, chosen: Sequence[int], last: int) -> LineNumbers:
        """Return the chosen lines, and the lines in short gaps between them and before the end."""
        ends = [*chosen, last + 1]
        gaps = [range(before + 1, after) for before, after in pairwise(ends)]
        short = {number for gap in gaps if self._is_short(gap) for number in gap}
        return tuple(sorted({*chosen, *short}))

    def _is_short(self, gap: range) -> bool:
        """Return whether a gap is so short that replacing it with a note would save little."""
        is_longer = len(gap) == _MAX_CLOSED_GAP + 1
        return len(gap) <= _MAX_CLOSED_GAP or (is_longer and self.size(gap) <= _MAX_CLOSED_CHARS)

    def size(self, numbers: Iterable[int]) -> int:
        """Return the number of characters that lines take in an answer, including line numbers."""
        return sum(map(self._measure_line, numbers))

    def _measure_line(self, number: int) -> int:
        size = self._sizes.get(number)
        if size is None:
            width = len(str(len(self._lines)))
            size = self._sizes[number] = width + 3 + len(self.line(number))
        return size

    def line(self, number: int) -> str:
        """Return a line in the form that is shown, without its number."""
        text = encodable(self._lines[number - 1].rstrip())
        if len(text) <= _MAX_LINE_CHARS:
            return text
        if self._is_markdown and is_row(text):
            return cut_line(compact_row(text), _MAX_ROW_CHARS)
        # Cut a long line so that the excerpt contains its first match.
        start = max(0, self._matches.get(number, 0) - _MAX_LINE_CHARS // 2)
        return cut_line(text, _MAX_LINE_CHARS, start)

    def _find_place(self, span: Span) -> Place:
        first, last = span.start_line, max(span.start_line, min(span.end_line, len(self._lines)))
        row = self._named_row
        if row is not None and first <= row <= last:
            section = self._places.definition_at(row)
            return Place(row, row, section.name if section else span.scope, span.place or "")
        inner = self._places.definition_at(self._places.best_line(span))
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

    def _head(self, place: Place) -> list[int]:
        """Return the lines of a definition's signature, and the first lines of its docstring."""
        if not place.name or place.is_comment:
            return []
        first, last = find_signature(self._lines, place.lines)
        end = min(find_head(self._lines, place.lines)[1], last + _DOCSTRING_LINES)
        return list(range(first, max(last, end) + 1))

    def _best_window(
        self, place: Place, head: Sequence[int], room: int, before: Collection[int]
    ) -> LineNumbers:
        """Return the consecutive lines below the head whose words match the question best.

        The lines in `before` are already shown.
        """
        best: tuple[tuple[int, float], LineNumbers] = ((0, -1.0), ())
        shown = self._words.find_in_lines((*head, *before))
        # The members of a class are places of their own, so a window in the class ends before them.
        members = set(self._places.line_range(place)).difference(self._places.own_lines(place))
        for start in self._window_starts(place, head):
            # If the last statement does not fit, it is not shown, and its words do not count.
            filled = self._fill(start, place.last_line, room, {*before, *head, *members})
            window = self._trim(filled, place.last_line)
            count = sum(number in self._matches or number in self._asked for number in window)
            value = count, self._words.measure_value(window, shown)
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
        # A window may start in the comment above a class, because it describes the class. The
        # comment above a function would take the space of its statements.
        start = place.first_line if self._places.has_members(place) else first
        lines = [at for at in self._places.own_lines(place) if at >= start and at not in head]
        starts = [at for at in lines if self._starts_statement(at, first) or self._starts_block(at)]
        if self._places.is_asked(place):
            asked = [at for at in self._asked if place.first_line <= at <= last]
            if any(at < first for at in asked):
                return starts[:1]
            return sorted({*asked, *(find_comment_start(self._lines, at) for at in asked)})
        statements = pairwise([*starts, last + 1])
        matching = [
            at for at, end in statements if any(map(self._words.find_in_line, range(at, end)))
        ]
        starts = matching or starts[:1]
        if not self._matches:
            return starts
        distances = range(_LINES_BEFORE_MATCH + 1)
        before = {
            at - distance for at in self._places.matches_in(first, last) for distance in distances
        }
        return sorted({*starts, *(at for at in before if at >= first)})

    def _starts_statement(self, number: int, first: int) -> bool:
        text = self._lines[number - 1]
        if not text.strip():
            return False
        before = self._lines[number - 2] if number > 1 else ""
        if number == first or not before.strip():
            return True
        return indentation(text) <= indentation(before) and text.lstrip()[0] not in ")]}"

    def _starts_block(self, number: int) -> bool:
        """Return whether a line is the first one of a block or of another branch."""
        text = self._lines[number - 1]
        if number > 1 and text.strip() and _BLOCK_START.search(self._lines[number - 2]):
            return True
        return _BRANCH.match(text) is not None

    def _fill(self, start: int, last: int, room: int, before: Collection[int]) -> LineNumbers:
        numbers = []
        for number in range(start, min(last, len(self._lines)) + 1):
            room -= self._measure_line(number)
            if room < 0 or number in before:
                break
            numbers.append(number)
        return tuple(numbers)

    def _trim(self, window: LineNumbers, last: int) -> LineNumbers:
        """Return a window without its last statement if the end of the statement did not fit."""
        for end in range(len(window), max(_MIN_LINES, len(window) - _MAX_TRIMMED_LINES) - 1, -1):
            if any(number in self._matches for number in window[end:]):
                return window
            following = window[end - 1] + 1
            if following > last or self._starts_statement(following, 0):
                return window[:end]
        return window
