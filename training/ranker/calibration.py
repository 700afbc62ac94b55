"""What a score of one ranker is worth: two logistic models, fitted to questions with known answers.

The first tells whether an answer is among the first ten results, from questions of the labels that
have one and those that have none. The second tells whether a single result answers: of the labels
by the lines shown, of the benchmark by the file. Both are fitted without the repository for which
they are reported; the threshold is where at most one answerable question in twenty is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from benchmarks.quality.score_calibration import tenths_of
from scipy.optimize import minimize

from rootle.rank.confidence import (
    QUESTION_SIGNALS,
    RESULT_SIGNALS,
    question_signals,
    result_signals,
)
from rootle.rank.rankers.feature_sum import RankedFiles
from rootle.rank.ranking_inputs import Floats
from training.ranker.ranking_examples import Asked

TOP = 10
REFUSED = 0.05
# Seven repositories have 42 questions without an answer, and 210 that have one.
UNANSWERABLE_WEIGHT = 3.0
BENCH_WEIGHT = 0.3
RIDGE = 6.0

Judge = Callable[[Asked, int, tuple[str, int, int]], bool]


@dataclass(frozen=True)
class Signals:
    """One ranked question."""

    source: str
    repository: str
    of_question: Floats
    of_results: Floats  # one row each of the first ten
    is_right: Floats
    is_answerable: bool


def signals_of(asked: Asked, ranked: RankedFiles, is_met: Judge) -> Signals:
    first = ranked.order[:TOP]
    right = [
        any(is_met(asked, at, lines) for target in asked.targets for lines in target)
        for at in first
    ]
    return Signals(
        asked.source,
        asked.repository,
        question_signals(asked.evidence, ranked),
        result_signals(asked.evidence, ranked)[:TOP],
        np.array(right, dtype=np.float64),
        bool(asked.targets),
    )


def calibration_of(found: Sequence[Signals]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The stored calibration, and what it is worth on repositories that it has not seen."""
    labels = [one for one in found if one.source == "labels"]
    unseen = {id(one): 0.0 for one in labels}
    said: list[Floats] = []
    right: list[Floats] = []
    for name in sorted({one.repository for one in labels}):
        others = [one for one in found if one.repository != name]
        answer, result = fitted_answer(others), fitted_result(others)
        for one in labels:
            if one.repository == name:
                unseen[id(one)] = float(chance(one.of_question[None, :], answer)[0])
                said.append(np.minimum.accumulate(chance(rows_of(one), result)))
                right.append(one.is_right)
    answerable = np.array([unseen[id(one)] for one in labels if one.is_answerable])
    others = np.array([unseen[id(one)] for one in labels if not one.is_answerable])
    threshold = float(np.quantile(answerable, REFUSED))
    pairs = list(zip(np.concatenate(said).tolist(), np.concatenate(right) > 0, strict=True))
    names = (*QUESTION_SIGNALS, "intercept")
    stored = {
        "answer": dict(zip(names, rounded(fitted_answer(labels)), strict=True)),
        "result": dict(
            zip(
                (*names[:-1], *RESULT_SIGNALS, "intercept"),
                rounded(fitted_result(found)),
                strict=True,
            )
        ),
        "threshold": round(threshold, 4),
        "odds": UNANSWERABLE_WEIGHT,
    }
    return stored, {
        "recognised": float((others < threshold).mean()),
        "reliability": [asdict(tenth) for tenth in tenths_of(pairs)],
    }


def fitted_answer(found: Sequence[Signals]) -> Floats:
    labels = [one for one in found if one.source == "labels"]
    weights = [1.0 if one.is_answerable else UNANSWERABLE_WEIGHT for one in labels]
    return logistic(
        np.vstack([one.of_question for one in labels]),
        np.array([float(one.is_answerable) for one in labels]),
        np.array(weights),
    )


def fitted_result(found: Sequence[Signals]) -> Floats:
    weights = [
        np.full(len(one.is_right), 1.0 if one.source == "labels" else BENCH_WEIGHT) for one in found
    ]
    return logistic(
        np.vstack([rows_of(one) for one in found]),
        np.concatenate([one.is_right for one in found]),
        np.concatenate(weights),
    )


def rows_of(one: Signals) -> Floats:
    asked = np.broadcast_to(one.of_question, (len(one.of_results), len(one.of_question)))
    return np.hstack([asked, one.of_results])


def logistic(rows: Floats, right: Floats, weights: Floats) -> Floats:
    """The weights of the columns as they are, then the intercept; ridge on their own scale."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = np.hstack([(rows - mean) / spread, np.ones((len(rows), 1))])

    def loss(theta: Floats) -> tuple[float, Floats]:
        z = scaled @ theta
        penalty = np.append(theta[:-1], 0.0) * RIDGE
        value = (weights * (np.logaddexp(0.0, z) - right * z)).sum() + 0.5 * penalty @ theta
        gradient = scaled.T @ (weights * (1 / (1 + np.exp(-z)) - right)) + penalty
        return float(value), gradient

    start = np.zeros(scaled.shape[1])
    theta = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    of_columns = theta[:-1] / spread
    return np.append(of_columns, theta[-1] - mean @ of_columns)


def chance(rows: Floats, theta: Floats) -> Floats:
    return 1 / (1 + np.exp(-(rows @ theta[:-1] + theta[-1])))


def rounded(theta: Floats) -> list[float]:
    return [float(f"{value:.5g}") for value in theta]
