"""Separation of unanswerable questions by a predicted probability: ROC areas and thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from benchmarks.common.statistics import Floats, Interval, percentile_interval

# The shares of answerable questions that may be refused. At the first of these shares, at least the
# share WANTED_RECOGNITION of the unanswerable questions should be recognized.
REFUSAL_LEVELS: Final = (0.05, 0.10, 0.20)
WANTED_RECOGNITION: Final = 0.80
DRAWS: Final = 2_000


@dataclass(frozen=True)
class Prediction:
    """The predicted probability that a question has an answer, and the outcome."""

    repository: str
    probability: float
    is_answerable: bool
    is_answered: bool  # whether the first ten results show an answer


Group = Callable[[Prediction], bool]

GROUPS: Final[Mapping[str, Group]] = {
    "answerable questions": lambda one: one.is_answerable,
    "questions answered in the first ten": lambda one: one.is_answered,
}


def is_unanswerable(prediction: Prediction) -> bool:
    return not prediction.is_answerable


def separation(
    group: str, predictions: Sequence[Prediction], tune: Sequence[Prediction]
) -> dict[str, Any]:
    """Return how well unanswerable questions are separated from a group of answerable ones.

    Thresholds are set twice: on the tune split, and on the predictions themselves.
    """
    belongs = GROUPS[group]
    kept = probabilities(predictions, belongs)
    unanswerable = probabilities(predictions, is_unanswerable)
    thresholds = [
        float(np.quantile(probabilities(tune, belongs), level)) for level in REFUSAL_LEVELS
    ]
    return {
        "group": group,
        "kept": len(kept),
        "unanswerable": len(unanswerable),
        "auc": auc(kept, unanswerable),
        "auc_interval": auc_interval(predictions, belongs),
        "at_tune_thresholds": [
            {"refused": _mean(kept < one), "recognized": _mean(unanswerable < one)}
            for one in thresholds
        ],
        "recognized_at": {
            f"{level:.0%}": _mean(unanswerable < np.quantile(kept, level))
            for level in REFUSAL_LEVELS
        },
    }


def probabilities(predictions: Sequence[Prediction], belongs: Group) -> Floats:
    """Return the probabilities predicted for one group."""
    return np.array([one.probability for one in predictions if belongs(one)], dtype=np.float64)


def auc(kept: Floats, unanswerable: Floats) -> float:
    """Return the ROC area: the share of correctly ordered pairs, where ties count half."""
    if not len(kept) or not len(unanswerable):
        return math.nan
    higher = (kept[:, None] > unanswerable[None, :]).mean()
    return float(higher + (kept[:, None] == unanswerable[None, :]).mean() / 2)


def auc_interval(predictions: Sequence[Prediction], belongs: Group) -> Interval:
    """Return the 95 % interval of the area, resampling repositories, then questions."""
    rng = np.random.default_rng(1)
    clusters = []
    for name in sorted({one.repository for one in predictions}):
        own = [one for one in predictions if one.repository == name]
        clusters.append((probabilities(own, belongs), probabilities(own, is_unanswerable)))
    areas = []
    for _ in range(DRAWS):
        drawn = [clusters[number] for number in rng.integers(len(clusters), size=len(clusters))]
        kept = np.concatenate([rng.choice(own, len(own)) for own, _ in drawn])
        unanswerable = np.concatenate([rng.choice(own, len(own)) for _, own in drawn])
        areas.append(auc(kept, unanswerable))
    return percentile_interval(areas)


def required_auc(recognized: float, refused: float) -> float:
    """Return the area under the ROC curve that passes through a point.

    This assumes that the probabilities of both groups are normally distributed with equal variance.
    """
    distance = NormalDist().inv_cdf(recognized) - NormalDist().inv_cdf(refused)
    return NormalDist().cdf(distance / math.sqrt(2))


def recognition_by_hits(answered: float, refused: float) -> float:
    """Return the share of unanswerable questions that a hypothetical classifier refuses.

    The classifier knows only which questions are answered by the first ten results (the share
    `answered` of the answerable questions). It cannot distinguish the other answerable questions
    from unanswerable ones, so it refuses the same share of both. It may refuse the share `refused`
    of all answerable questions.
    """
    return min(1.0, refused / (1 - answered)) if answered < 1 else 1.0


def _mean(values: Floats | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    return float(np.mean(values)) if len(values) else math.nan
