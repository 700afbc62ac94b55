"""Choose the places that an answer shows, and their lines, from all files of the answer.

Characters for a few lines are reserved for each of the best places, and the remaining characters
are distributed in rank order. Otherwise, one long function would use them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rootle.tools.excerpts.file_places import Place
from rootle.tools.excerpts.place_ranking import RankedPlace, rank_places
from rootle.tools.excerpts.shown_lines import FileExcerpts, LineNumbers
from rootle.types import Span

_FIRST_SHARE: Final = 0.42  # the maximum share of all characters to reserve for the first place
_INITIAL_CHARS: Final = 300  # the maximum number of characters to reserve for another place
_MAX_PLACES: Final = 3  # for which characters are reserved; others use those that are left over
# Another place is shown with lines only if at least this many characters are left.
_MIN_ROOM: Final = 150
# Characters are reserved for a place if its value is at least this share of the first place's
# value.
_WORTH: Final = 0.25
# The same share for places without reserved characters, and for lines outside of definitions, such
# as imports.
_WORTH_OF_REST: Final = 0.45
# Characters are reserved for the best place of the first file if the score of the file is at least
# this many times the second score.
_LEAD: Final = 1.2
_TITLE_CHARS: Final = 50  # approximate length of the range and the name of another place
# The variables that the shown lines use are shown only in an answer of at least this length.
_MIN_ROOM_WITH_VARIABLES: Final = 600


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """A file of an answer, with the spans and the score of its result."""

    excerpts: FileExcerpts
    spans: Sequence[Span]
    score: float


@dataclass(frozen=True, slots=True)
class ChosenPlaces:
    """The places of one file that an answer shows or names, best first."""

    shown: Sequence[tuple[Place, LineNumbers]]
    named: Sequence[Place]  # without lines


def choose_places(question: str, files: Sequence[AnswerFile], room: int) -> list[ChosenPlaces]:
    """Return the places of each file, with lines of about `room` characters in total.

    No line is shown twice. The last places in `shown` are the variables that the chosen lines of
    the file use and that are defined outside of functions.
    """
    candidates = [file.excerpts.candidates(file.spans) for file in files]
    ranked = rank_places(question, candidates, [file.score for file in files])
    choice = _Choice(files, ranked, room)
    for one in ranked:
        choice.add(one)
    return [choice.choose_places(at) for at in range(len(files))]


class _Choice:
    """The lines that are chosen so far, and the characters that are left."""

    def __init__(
        self, files: Sequence[AnswerFile], ranked: Sequence[RankedPlace], room: int
    ) -> None:
        self._files = [file.excerpts for file in files]
        self._room = self._left = room
        self._first_value = ranked[0].value if ranked else 0.0
        scores = [file.score for file in files]
        is_clear = len(scores) < 2 or scores[0] >= _LEAD * scores[1]
        self._leader = 0 if is_clear else None  # the file that clearly matches best
        self._initial = self._divide(ranked)
        self._shown: list[list[tuple[Place, LineNumbers]]] = [[] for _ in files]
        self._named: list[list[Place]] = [[] for _ in files]
        self._lines: list[set[int]] = [set() for _ in files]

    def _divide(self, ranked: Sequence[RankedPlace]) -> dict[tuple[int, Place], int]:
        """Reserve characters for the best places, and return the number of characters for each."""
        initial: dict[tuple[int, Place], int] = {}
        best_of_leader = next((one for one in ranked if one.file == self._leader), None)
        for one in self._order_by_need(ranked) if self._room else ():
            if len(initial) == _MAX_PLACES:
                break
            is_needed = not initial or one is best_of_leader
            if not is_needed and not self._is_worth_lines(one, _WORTH):
                continue
            excerpts, place = self._files[one.file], one.candidate.place
            most = _INITIAL_CHARS if initial else int(_FIRST_SHARE * self._room)
            size = min(excerpts.size(excerpts.line_range(place)), most)
            initial[one.file, place] = size
            self._left -= size + _TITLE_CHARS
        self._left = max(0, self._left)
        return initial

    def _order_by_need(self, ranked: Sequence[RankedPlace]) -> Sequence[RankedPlace]:
        """Return the places so that the first `_MAX_PLACES` include the leading file's best place.

        An answer that shows lines, but none from the file that clearly matches best, would be
        misleading.
        """
        at = next((at for at, one in enumerate(ranked) if one.file == self._leader), 0)
        last = _MAX_PLACES - 1
        if at <= last:
            return ranked
        return [*ranked[:last], ranked[at], *ranked[last:at], *ranked[at + 1 :]]

    def _is_worth_lines(self, one: RankedPlace, share: float) -> bool:
        if self._left < _MIN_ROOM:
            return False
        least = share if one.candidate.place.name else _WORTH_OF_REST
        return one.value >= least * self._first_value

    def add(self, one: RankedPlace) -> None:
        """Choose the lines of the next place, or only name it."""
        at, place = one.file, one.candidate.place
        initial = self._initial.pop((at, place), None)
        numbers: LineNumbers = ()
        if initial is not None:
            self._left += initial
        if self._repeats_matches(one):
            pass  # naming the place is enough: its other lines match only parts of the phrase
        elif initial is not None:
            numbers = self._files[at].choose(place, self._left, self._lines[at])
            self._left -= self._files[at].size(numbers)
        elif self._is_worth_lines(one, _WORTH_OF_REST) and self._left >= _MIN_ROOM + _TITLE_CHARS:
            room = self._left - _TITLE_CHARS
            numbers = self._files[at].choose(place, room, self._lines[at])
            self._left -= self._files[at].size(numbers) + (_TITLE_CHARS if numbers else 0)
        self._left = max(0, self._left)
        self._lines[at].update(numbers)
        if numbers:
            self._shown[at].append((place, numbers))
        else:
            self._named[at].append(place)

    def _repeats_matches(self, one: RankedPlace) -> bool:
        """Return whether a place that does not fit has no matching lines except those shown."""
        excerpts, place = self._files[one.file], one.candidate.place
        shown = self._lines[one.file]
        matches = excerpts.matches_in(place)
        if not matches or not shown.issuperset(matches):
            return False
        return excerpts.size(set(excerpts.line_range(place)) - shown) > self._left

    def choose_places(self, at: int) -> ChosenPlaces:
        """Return the places of a file, and the variables that its shown lines use."""
        has_variables = self._lines[at] and self._room >= _MIN_ROOM_WITH_VARIABLES
        used = self._files[at].choose_used(self._lines[at]) if has_variables else []
        return ChosenPlaces([*self._shown[at], *used], self._named[at])
