"""Oracle scores: NDCG@10 if the order, the lines or both were perfect, and the losses by cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.common.labels import Label, is_in_target_file, overlaps_target
from benchmarks.common.metrics import TOP_K, Hit, match_targets, ndcg
from benchmarks.common.statistics import mean

ACTUAL = "actual"
LINES_OF_TEN = "perfect lines of the first ten"
ORDER_OF_TEN = "perfect order of the first ten"
BOTH_OF_TEN = "perfect order and lines of the first ten"
ORDER_OF_ALL = "perfect order of all candidates"
BOTH_OF_ALL = "perfect order and lines of all candidates"
ORACLES = (ACTUAL, LINES_OF_TEN, ORDER_OF_TEN, BOTH_OF_TEN, ORDER_OF_ALL, BOTH_OF_ALL)
# Successive steps from the actual score to that of the last oracle.
LOSSES = (
    ("order of the first ten", ACTUAL, ORDER_OF_TEN),
    ("below the tenth place", ORDER_OF_TEN, ORDER_OF_ALL),
    ("other lines of the right file", ORDER_OF_ALL, BOTH_OF_ALL),
)
NOT_FOUND = "file not found, or shared by two targets"


@dataclass(frozen=True)
class Candidates:
    """An answerable question and all hits of a system, best first."""

    label: Label
    is_hard: bool
    hits: tuple[Hit, ...]
    is_indexed: bool  # whether the index contains a line of an answer

    def oracle_ranks(self) -> dict[str, set[int]]:
        """Return the ranks at which each oracle finds targets."""
        first_ten = self.hits[:TOP_K]
        by_span, by_file = self._span_ranks(first_ten), self._file_ranks(first_ten)
        return {
            ACTUAL: by_span,
            LINES_OF_TEN: by_file,
            ORDER_OF_TEN: top_ranks(len(by_span)),
            BOTH_OF_TEN: top_ranks(len(by_file)),
            ORDER_OF_ALL: top_ranks(len(self._span_ranks(self.hits))),
            BOTH_OF_ALL: top_ranks(len(self._file_ranks(self.hits))),
        }

    @property
    def has_answer(self) -> bool:
        """Return whether a hit is in the file of a target."""
        return bool(self._file_ranks(self.hits))

    def _span_ranks(self, hits: Sequence[Hit]) -> set[int]:
        return match_targets(self.label.targets, hits, overlaps_target)

    def _file_ranks(self, hits: Sequence[Hit]) -> set[int]:
        return match_targets(self.label.targets, hits, is_in_target_file)


def top_ranks(count: int) -> set[int]:
    """Return the ranks from 1 to `count`, at most ten."""
    return set(range(1, min(count, TOP_K) + 1))


@dataclass(frozen=True)
class OracleScore:
    """The mean score of one oracle over a set of questions."""

    oracle: str
    ndcg: float
    hit10: float
    hard_ndcg: float  # over the hard questions
    hard_hit10: float


def oracle_scores(questions: Sequence[Candidates]) -> list[OracleScore]:
    """Return the score of each oracle, the actual ranking first."""
    ranks = [one.oracle_ranks() for one in questions]
    scores = []
    for oracle in ORACLES:
        values = [
            (ndcg(found[oracle], len(one.label.targets)), bool(found[oracle]))
            for one, found in zip(questions, ranks, strict=True)
        ]
        hard = [value for value, one in zip(values, questions, strict=True) if one.is_hard]
        scores.append(
            OracleScore(
                oracle,
                mean(score for score, _ in values),
                mean(hit for _, hit in values),
                mean(score for score, _ in hard),
                mean(hit for _, hit in hard),
            )
        )
    return scores


@dataclass(frozen=True)
class Losses:
    """NDCG@10 lost by the questions of one kind; `ndcg` and `by_cause` add up to 1."""

    kind: str
    questions: int
    ndcg: float
    by_cause: dict[str, float]


def measure_losses(kind: str, questions: Sequence[Candidates]) -> Losses:
    """Return the losses of a group of questions by cause."""
    reached = {score.oracle: score.ndcg for score in oracle_scores(questions)}
    by_cause = {cause: reached[after] - reached[before] for cause, before, after in LOSSES}
    by_cause[NOT_FOUND] = 1 - reached[BOTH_OF_ALL]
    return Losses(kind, len(questions), reached[ACTUAL], by_cause)


def losses_by_kind(questions: Sequence[Candidates]) -> list[Losses]:
    """Return the losses of each kind, of hard and plain questions, and of all."""
    kinds = sorted({one.label.kind for one in questions})
    groups = {kind: [one for one in questions if one.label.kind == kind] for kind in kinds}
    if hard := [one for one in questions if one.is_hard]:
        groups |= {"hard": hard, "plain": [one for one in questions if not one.is_hard]}
    groups["all"] = list(questions)
    return [measure_losses(kind, group) for kind, group in groups.items() if group]
