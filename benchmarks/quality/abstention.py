"""How well questions without an answer are told from others by a chance: areas and thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
REFUSED = (0.05, 0.10, 0.20)
WANTED = 0.80  # of the questions without an answer, where one in twenty of the others is refused
DRAWS = 2_000


@dataclass(frozen=True)
class Said:
    """What was said of one question: the chance that the first ten results answer it."""

    repository: str
    chance: float
    has_answer: bool
    is_answered: bool  # in the lines of the first ten results


Group = Callable[[Said], bool]
GROUPS: dict[str, Group] = {
    "questions with an answer": lambda one: one.has_answer,
    "questions answered in the first ten": lambda one: one.is_answered,
}


def row_of(name: str, said: Sequence[Said], tune: Sequence[Said]) -> dict:
    """How the questions without an answer are told from one group of the others."""
    belongs = GROUPS[name]
    kept, others = chances(said, belongs), chances(said, lambda one: not one.has_answer)
    thresholds = [float(np.quantile(chances(tune, belongs), level)) for level in REFUSED]
    return {
        "group": name,
        "kept": len(kept),
        "others": len(others),
        "auc": auc(kept, others),
        "auc95": auc_interval(said, belongs),
        "atTuneThresholds": [
            {"refused": mean(kept < at), "recognised": mean(others < at)} for at in thresholds
        ],
        "recognisedAt": {
            f"{level:.0%}": mean(others < np.quantile(kept, level)) for level in REFUSED
        },
    }


def chances(said: Sequence[Said], belongs: Group) -> Floats:
    return np.array([one.chance for one in said if belongs(one)], dtype=np.float64)


def auc(kept: Floats, others: Floats) -> float:
    """How often a kept question has the higher chance of two; a tie counts half."""
    if not len(kept) or not len(others):
        return math.nan
    higher = (kept[:, None] > others[None, :]).mean()
    return float(higher + (kept[:, None] == others[None, :]).mean() / 2)


def auc_interval(said: Sequence[Said], belongs: Group) -> tuple[float, float]:
    """The middle 95 % where repositories are drawn again, then questions within each."""
    rng = np.random.default_rng(1)
    repositories = []
    for name in sorted({one.repository for one in said}):
        own = [one for one in said if one.repository == name]
        repositories.append((chances(own, belongs), chances(own, lambda one: not one.has_answer)))
    areas = []
    for _ in range(DRAWS):
        drawn = [repositories[at] for at in rng.integers(len(repositories), size=len(repositories))]
        kept = np.concatenate([rng.choice(own, len(own)) for own, _ in drawn])
        others = np.concatenate([rng.choice(own, len(own)) for _, own in drawn])
        areas.append(auc(kept, others))
    low, high = np.percentile(areas, [2.5, 97.5])
    return float(low), float(high)


def auc_for(recognised: float, refused: float) -> float:
    """The area under a curve through that point, where both groups are bell curves alike."""
    apart = NormalDist().inv_cdf(recognised) - NormalDist().inv_cdf(refused)
    return NormalDist().cdf(apart / math.sqrt(2))


def told_by_hits(answered: float, refused: float) -> float:
    """What is recognised by knowing only whether the first ten results answer.

    Questions whose answer was not found and those without any look the same then: both are refused
    by lot, as many as may be.
    """
    return min(1.0, refused / (1 - answered)) if answered < 1 else 1.0


def mean(values: Floats | Sequence[bool]) -> float:
    return float(np.mean(values)) if len(values) else math.nan
