"""What an answer would be worth if parts of it were perfect: where a system loses, and how much."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.common.labels import Label, Span
from benchmarks.quality.labelled_questions import overlaps, ranks_of
from benchmarks.quality.public_benchmark import TOP_K, Found, ndcg

AS_IT_IS = "as it is"
LINES_OF_TEN = "perfect lines of the first ten"
ORDER_OF_TEN = "perfect order of the first ten"
BOTH_OF_TEN = "perfect order and lines of the first ten"
ORDER_OF_ALL = "perfect order of all candidates"
BOTH_OF_ALL = "perfect order and lines of all candidates"
STEPS = (AS_IT_IS, LINES_OF_TEN, ORDER_OF_TEN, BOTH_OF_TEN, ORDER_OF_ALL, BOTH_OF_ALL)
# One after the other they make the whole way from what there is to 1.
LOSSES = (
    ("order of the first ten", AS_IT_IS, ORDER_OF_TEN),
    ("below the tenth place", ORDER_OF_TEN, ORDER_OF_ALL),
    ("other lines of its file", ORDER_OF_ALL, BOTH_OF_ALL),
)
NOT_FOUND = "file not found, or two targets in one"


@dataclass(frozen=True)
class Asked:
    """One question that has an answer, and all that a system found for it, best first."""

    label: Label
    hard: bool
    found: tuple[Found, ...]
    is_indexed: bool  # some lines that answer are in the index

    def ranks(self) -> dict[str, set[int]]:
        """Step by step the ranks at which targets would be met."""
        ten = self.found[:TOP_K]
        by_span, by_file = self._met(ten, overlaps), self._met(ten, is_in_file)
        return {
            AS_IT_IS: by_span,
            LINES_OF_TEN: by_file,
            ORDER_OF_TEN: at_the_top(by_span),
            BOTH_OF_TEN: at_the_top(by_file),
            ORDER_OF_ALL: at_the_top(self._met(self.found, overlaps)),
            BOTH_OF_ALL: at_the_top(self._met(self.found, is_in_file)),
        }

    @property
    def is_candidate(self) -> bool:
        """Whether a file with an answer is among what was found."""
        return bool(self._met(self.found, is_in_file))

    def _met(self, found: Sequence[Found], meets: Callable[[Found, Span], bool]) -> set[int]:
        return ranks_of(self.label, found, meets)


def is_in_file(result: Found, span: Span) -> bool:
    return result.path == span.path


def at_the_top(ranks: set[int]) -> set[int]:
    """The same number of targets, in the first places."""
    return set(range(1, min(len(ranks), TOP_K) + 1))


@dataclass(frozen=True)
class Step:
    """What a set of questions would be worth; the last two of its hard ones."""

    name: str
    ndcg: float
    hit: float
    hard_ndcg: float
    hard_hit: float


def ladder_of(asked: Sequence[Asked]) -> list[Step]:
    ranked = [(one, one.ranks()) for one in asked]
    steps = []
    for name in STEPS:
        worth = [(one.hard, worth_of(one, ranks[name]), bool(ranks[name])) for one, ranks in ranked]
        hard = [one for one in worth if one[0]]
        steps.append(
            Step(
                name,
                mean(value for _, value, _ in worth),
                mean(hit for _, _, hit in worth),
                mean(value for _, value, _ in hard),
                mean(hit for _, _, hit in hard),
            )
        )
    return steps


def worth_of(asked: Asked, ranks: set[int]) -> float:
    return ndcg(ranks, len(asked.label.targets))


@dataclass(frozen=True)
class Losses:
    """Where the questions of one kind lose NDCG; `by_cause` and `ndcg` add up to 1."""

    kind: str
    questions: int
    ndcg: float
    by_cause: dict[str, float]


def losses_of(kind: str, asked: Sequence[Asked]) -> Losses:
    reached = {step.name: step.ndcg for step in ladder_of(asked)}
    by_cause = {cause: reached[after] - reached[before] for cause, before, after in LOSSES}
    by_cause[NOT_FOUND] = 1 - reached[BOTH_OF_ALL]
    return Losses(kind, len(asked), reached[AS_IT_IS], by_cause)


def losses_by_kind(asked: Sequence[Asked]) -> list[Losses]:
    """Those of each kind, the hard and the plain ones, and all."""
    kinds = sorted({one.label.kind for one in asked})
    groups = {kind: [one for one in asked if one.label.kind == kind] for kind in kinds}
    if hard := [one for one in asked if one.hard]:
        groups |= {"hard": hard, "plain": [one for one in asked if not one.hard]}
    groups["all"] = list(asked)
    return [losses_of(kind, of_kind) for kind, of_kind in groups.items() if of_kind]


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return statistics.fmean(values) if values else 0.0
