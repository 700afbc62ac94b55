"""Rank the places of several files, so that the first ones together match the whole question.

A question often has several parts: sentences, the signatures after them, and names. A place is
worth more if it matches a part that no earlier place matches. Without this, one long function that
matches a little of each part comes first, followed by its neighbors, and the second function that
the question asks for is not shown (docs/decisions/0058-places-of-an-answer-are-ranked-together.md).

The value of a place for one part is the weighted share of the part's words in the place, and up to
`_NAME_VALUE` for the words of its name. Words and names that few places have weigh more. The choice
is greedy: the next place is always the one with the highest sum of two values. The first is what
the place adds to the best values of the parts, as in the facility location problem. The second does
not depend on other places. Among other things, it depends on the largest share of a part's words in
the place: a place that matches one part well is more likely to be asked for than a long one that
matches a little of each.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace, nlargest
from typing import Final

from rootle.text.word_stems import collect_names, collect_pairs, list_stems
from rootle.tools.excerpts.file_places import Candidate

# The constants were chosen on the tune splits of the labels and of the large repositories, and on
# tasks with two places in these repositories.
_NAME_VALUE: Final = 0.5  # for a part that contains the words of the name
# The value of a name is the weight of its words in the question, divided by the weight of all its
# words. This share of the highest weight is added to the divisor, because a name that consists of
# one common word says little.
_NAME_SMOOTHING: Final = 0.5
_BEST_PART_VALUE: Final = 1.2  # times the largest share of the words of a part
_FILE_VALUE: Final = 0.8  # times the mean share of the words and the square root of the score
_AGAIN: Final = 0.3  # share of the values that counts even if earlier places match the same parts
_SCORE_VALUE: Final = 1.0  # times the square root of the score of the file, relative to the best
_SPAN_VALUE: Final = 0.6  # for the first span of a result; less for later spans
# For a rare name that the question declares, as in "def name(…)", or contains.
_DECLARED_VALUE: Final = 1.0
_CONTAINER_LOSS: Final = 0.8  # for a definition that contains others, such as a class
_UNNAMED_LOSS: Final = 0.1  # for lines outside of definitions
_MATCH_VALUE: Final = 10.0  # for a match of a phrase or a regex, times the square root of the score
_MIN_SCORE: Final = 1e-3
# The maximum number of places that are ranked. The spans of the results and the definitions that
# the question asks for take precedence over other places, which are ordered by the weight of their
# words.
_MAX_CANDIDATES: Final = 100
_MAX_PLACES: Final = 24
_MAX_PARTS: Final = 24
# A part of a question ends after a period or semicolon, at a slash between spaces, or with a line.
_PART_END: Final = re.compile(r"(?<=[.;])\s+|\s/\s|\n")

Values = Sequence[float]  # one for each part of the question


@dataclass(frozen=True, slots=True)
class RankedPlace:
    """A place that was chosen, with the position of its file and its value."""

    file: int  # position in the sequence of files
    candidate: Candidate
    value: float  # when it was chosen, without the part for the score of the file


@dataclass(frozen=True, slots=True)
class _ScoredPlace:
    file: int
    candidate: Candidate
    score: float  # the part of the value for the score of the file
    fixed: float  # the other part that does not depend on other places
    matched: Values

    def value(self, best: Values, shares: Values) -> float:
        """Return the value if earlier places already match the parts with the values `best`."""
        gains = (
            max(0.0, new - old) * share
            for new, old, share in zip(self.matched, best, shares, strict=True)
        )
        return self.score + self.fixed + math.fsum(gains)


def split_parts(question: str) -> list[frozenset[str]]:
    """Return the stems, and the pairs of adjacent stems, of each part of a question."""
    stems = map(list_stems, _PART_END.split(question, maxsplit=_MAX_PARTS - 1))
    return [frozenset(some) | collect_pairs(some) for some in stems if some]


def rank_places(
    question: str, files: Sequence[Sequence[Candidate]], scores: Sequence[float]
) -> list[RankedPlace]:
    """Return the best places of some files, best first.

    `scores` are the scores of the files as results of the search. Definitions that the question
    asks for come before all other places.

    The names in the question are additional parts, because a place that uses such a name may be
    asked for even if it has no other word of the question. However, a single name is not counted as
    the part that a place matches best, because most places that use it are not asked for.
    """
    plain = split_parts(question)
    names = [frozenset((name,)) for name in sorted(collect_names(question))]
    parts = [*plain, *names][:_MAX_PARTS]
    every = [(at, one) for at, some in enumerate(files) for one in some]
    counts = Counter(word for _, one in every for word in one.words)
    weights = {word: math.log(1 + len(every) / count) for word, count in counts.items()}
    scale = _PartScale(parts, weights, math.log(1 + len(every)))
    top = max(_MIN_SCORE, *scores) if scores else 1.0
    roots = [math.sqrt(max(score, _MIN_SCORE) / top) for score in scores]

    def prior(pair: tuple[int, Candidate]) -> tuple[bool, bool, float]:
        at, one = pair
        words = math.fsum(weights[word] for word in one.words)
        return one.is_asked, one.rank is not None, words * roots[at]

    rows = []
    for at, one in nlargest(_MAX_CANDIDATES, every, key=prior):
        shares = scale.measure_shares(one)
        matched = scale.add_name(one, shares)
        fixed = _fixed_value(one, scale.mean(matched), scale.rarity(one))
        if not one.is_container:
            fixed += _BEST_PART_VALUE * max(shares[: len(plain)], default=0.0)
        fixed += _FILE_VALUE * roots[at] * scale.mean(shares)
        score = roots[at] * (_SCORE_VALUE + (_MATCH_VALUE if one.is_match else 0.0))
        rows.append(_ScoredPlace(at, one, score, fixed, matched))
    return _choose_greedily(rows, scale.shares)


class _PartScale:
    """The weight of each part of a question: the sum of the weights of its words in the files."""

    def __init__(
        self, parts: Sequence[frozenset[str]], weights: Mapping[str, float], highest: float
    ) -> None:
        self._parts = parts
        self._weights = weights
        self._highest = highest  # weight of a word that no place has
        self._totals = [math.fsum(weights.get(word, 0.0) for word in part) for part in parts]
        words = frozenset[str]().union(*parts)
        total = math.fsum(weights.get(word, 0.0) for word in words) or 1.0
        self.shares: Values = [one / total for one in self._totals]

    def measure_shares(self, candidate: Candidate) -> Values:
        """Return, for each part, the share of its words that a place contains."""
        return [
            math.fsum(self._weights[word] for word in candidate.words & part) / (total or 1.0)
            for part, total in zip(self._parts, self._totals, strict=True)
        ]

    def add_name(self, candidate: Candidate, shares: Values) -> Values:
        """Return the shares of a place for each part, plus the value of its name for the part."""
        if candidate.is_container or not candidate.name:
            return shares
        weights, whole = self._weigh_name(candidate.name)
        return [
            share
            + _NAME_VALUE * (math.fsum(weights[word] for word in weights.keys() & part) / whole)
            for share, part in zip(shares, self._parts, strict=True)
        ]

    def mean(self, values: Values) -> float:
        """Return the mean of the values for the parts, weighted by the weights of the parts."""
        return math.fsum(value * share for value, share in zip(values, self.shares, strict=True))

    def rarity(self, candidate: Candidate) -> float:
        """Return a value from 0 to 1: how much the name of a place distinguishes it."""
        if not candidate.name:
            return 0.0
        weights, whole = self._weigh_name(candidate.name)
        return math.fsum(weights.values()) / whole

    def _weigh_name(self, name: frozenset[str]) -> tuple[Mapping[str, float], float]:
        """Return the weights of the words of a name, and their sum with `_NAME_SMOOTHING`."""
        weights = {word: self._weights.get(word, self._highest) for word in name}
        return weights, math.fsum(weights.values()) + _NAME_SMOOTHING * self._highest


def _fixed_value(candidate: Candidate, mean: float, rarity: float) -> float:
    """Return the part of the value that does not depend on other places, without the score."""
    value = _AGAIN * mean
    if candidate.rank is not None:
        value += _SPAN_VALUE / (1 + candidate.rank)
    if candidate.is_declared or (candidate.is_named and not candidate.is_container):
        value += _DECLARED_VALUE * rarity
    elif candidate.is_container:
        value -= _CONTAINER_LOSS
    if not candidate.place.name:
        value -= _UNNAMED_LOSS
    return value


def _choose_greedily(rows: Sequence[_ScoredPlace], shares: Values) -> list[RankedPlace]:
    """Return the places in the order in which they are chosen.

    The value of a place never rises while others are chosen. Therefore it is computed again only if
    its last value is still the highest. Of places with equal values, the first one is chosen.
    """
    best: Values = [0.0] * len(shares)
    ranked: list[RankedPlace] = []

    def rate(at: int) -> tuple[bool, float, int, int]:
        row = rows[at]
        return not row.candidate.is_asked, -row.value(best, shares), at, len(ranked)

    left = [rate(at) for at in range(len(rows))]
    heapify(left)
    while left and len(ranked) < _MAX_PLACES:
        _, negative, at, rated_after = left[0]
        if rated_after < len(ranked):
            heapreplace(left, rate(at))
            continue
        heappop(left)
        row = rows[at]
        ranked.append(RankedPlace(row.file, row.candidate, -negative - row.score))
        best = [max(pair) for pair in zip(best, row.matched, strict=True)]
    return ranked
