"""Places are chosen one after the other, by what each adds to those chosen before."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from rootle.tools.excerpts.file_places import Candidate, Place
from rootle.tools.excerpts.place_ranking import RankedPlace, rank_places

_WORDS = "open close pool size limit timeout retry socket buffer flush".split()
_QUESTION = "open the pool with a limit. close the socket; flush the buffer\nretry after a timeout"


def _make_candidates(seed: int) -> list[Candidate]:
    """Return random places, some of which are equal except for their lines."""
    draw = random.Random(seed)
    found = []
    for number in range(60):
        words = frozenset(word[:5] for word in draw.sample(_WORDS, draw.randrange(3)))
        name = frozenset(word[:5] for word in draw.sample(_WORDS, draw.randrange(3)))
        place = Place(number * 10 + 1, number * 10 + 9, " ".join(sorted(name)))
        is_container, is_asked = draw.random() < 0.1, draw.random() < 0.05
        one = Candidate(
            place, None, words, name, is_container, False, False, False, is_asked=is_asked
        )
        found.append(one)
    return found


def _lines(ranked: Sequence[RankedPlace]) -> list[tuple[int, int]]:
    return [one.candidate.place.lines for one in ranked]


@pytest.mark.parametrize("seed", range(20))
def test_each_place_is_the_best_one_after_those_before_it(seed: int) -> None:
    candidates = _make_candidates(seed)
    ranked = rank_places(_QUESTION, [candidates], [1.0])

    # The values of asked places, and then those of the others, can only fall.
    for is_asked in (True, False):
        values = [one.value for one in ranked if one.candidate.is_asked is is_asked]
        assert values == sorted(values, reverse=True)
    assert [one.candidate.is_asked for one in ranked] == sorted(
        (one.candidate.is_asked for one in ranked), reverse=True
    )
    assert len(set(_lines(ranked))) == len(ranked) == 24


def test_of_equal_places_the_first_one_comes_first() -> None:
    words = frozenset({"pool"})
    places = [Place(first, first + 4, "def pool") for first in (1, 11, 21)]
    candidates = [
        Candidate(place, None, words, words, False, False, False, False, False) for place in places
    ]
    assert _lines(rank_places("the pool", [candidates], [1.0])) == [(1, 5), (11, 15), (21, 25)]


def test_a_place_that_only_uses_a_name_comes_after_one_with_most_words_of_the_question() -> None:
    question = "close sockets after a timeout and flush the buffer, see maxIdleTime"
    uses_name = frozenset({"=maxIdleTime", "max", "idle", "time"})
    describes = frozenset({"close", "socke", "timeo", "flush", "buffe"})
    candidates = [
        Candidate(Place(1, 5, ""), None, uses_name, frozenset(), *[False] * 5),
        Candidate(Place(11, 15, ""), None, describes, frozenset(), *[False] * 5),
    ]
    assert _lines(rank_places(question, [candidates], [1.0]))[0] == (11, 15)
