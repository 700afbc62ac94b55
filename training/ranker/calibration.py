"""Calibration of a ranker's scores: two logistic models, fitted to questions with known answers.

The first predicts whether a question has an answer; it is fitted to answerable and unanswerable
questions. The second predicts whether a single result is correct. A result for a labeled question
is correct if its shown lines overlap a target; for the public benchmark, it is correct if it is in
the right file. The figures of each repository come from models fitted to the other repositories. A
question is refused if the first probability is below a threshold, which is set so that one
answerable question in twenty is refused. Queries that a language model composed have separate
models and a lower threshold, which refuses three answerable ones in a hundred
(`rootle.rank.confidence.Voice`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any, Final

import numpy as np
from benchmarks.quality.score_calibration import bin_results
from scipy.optimize import minimize

from rootle.rank.confidence import (
    QUESTION_SIGNALS,
    RESULT_SIGNALS,
    Voice,
    detect_voice,
    question_signals,
    result_signals,
)
from rootle.rank.rankers.features_ranker import RankedFiles
from rootle.rank.ranking_inputs import Floats
from training.ranker.ranking_examples import RankingExample, Source

TOP_K: Final = 10
REFUSED_SHARE: Final[Mapping[Voice, float]] = {"asked": 0.05, "composed": 0.03}
LABELED: Final[tuple[Source, ...]] = ("labels", "renamed")
# The seven repositories of the tune split have 42 unanswerable and 210 answerable questions. With
# this weight and OTHER_WEIGHTS, answerable and unanswerable questions have similar weights in
# total.
UNANSWERABLE_WEIGHT: Final = 3.0
# The weight of each question without labels, keyed by source. The weights are used to fit the first
# model and to choose the threshold. The questions of the public benchmark are answerable and mostly
# short, and those that were written to be unanswerable are long. With higher weights, the model
# would mainly learn the length of questions.
OTHER_WEIGHTS: Final[Mapping[Voice, Mapping[str, float]]] = {
    "asked": {"bench": 0.1, "unanswerable": 0.3},
    "composed": {"bench": 1.0, "unanswerable": 0.5},
}
BENCH_WEIGHT: Final = 0.3  # in the second model: weight of results for questions without labels
RIDGE: Final = 6.0
INTERCEPT: Final = "intercept"


@dataclass(frozen=True)
class Signals:
    """The signals of one ranked question and of its first ten results."""

    source: str
    repository: str
    question: Floats
    results: Floats  # one row for each of the first ten results
    is_correct: Floats  # for each of these results
    is_answerable: bool
    voice: Voice = "asked"
    is_evaluated: bool = True  # False for queries that are used only for training

    @property
    def rows(self) -> Floats:
        """Return the signals of the question and of each result, one row per result."""
        shape = (len(self.results), len(self.question))
        rows: Floats = np.hstack([np.broadcast_to(self.question, shape), self.results])
        return rows


def collect_signals(example: RankingExample, ranked: RankedFiles) -> Signals:
    """Return the signals of a question under one ranking of its files."""
    correct = [float(example.answers(file)) for file in ranked.order[:TOP_K]]
    return Signals(
        example.source,
        example.repository,
        question_signals(example.inputs, ranked),
        result_signals(example.inputs, ranked)[:TOP_K],
        np.array(correct),
        bool(example.targets),
        detect_voice(example.inputs),
        example.voice != "other",
    )


def fit_voices(found: Sequence[Signals]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the calibrations to store and their figures on unseen repositories, by voice.

    Queries that a program composed for questions of the public benchmark are not used.
    """
    asked = [one for one in found if one.voice == "asked"]
    composed = [
        one
        for one in found
        if one.voice == "composed" and (one.is_evaluated or one.source in LABELED)
    ]
    fitted = {"asked": fit_calibration(asked, REFUSED_SHARE["asked"])}
    if composed:
        fitted["composed"] = fit_calibration(composed, REFUSED_SHARE["composed"])
    return (
        {voice: calibration for voice, (calibration, _) in fitted.items()},
        {voice: figures for voice, (_, figures) in fitted.items()},
    )


def fit_calibration(
    found: Sequence[Signals], refused_share: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the calibration to store, and its figures on unseen repositories."""
    unseen: dict[int, float] = {}  # the probability of each evaluated question, by identity
    probabilities: list[Floats] = []
    correct: list[Floats] = []
    for name in sorted({one.repository for one in found}):
        others = [one for one in found if one.repository != name]
        answer_model = fit_answer_model(others)
        own = [one for one in found if one.repository == name and one.is_evaluated]
        for one in own:
            unseen[id(one)] = answer_probability(one, answer_model)
        if labeled := [one for one in own if one.source in LABELED]:
            result_model = fit_result_model(others)
            ranked = [probability(one.rows, result_model) for one in labeled]
            probabilities += map(np.minimum.accumulate, ranked)
            correct += [one.is_correct for one in labeled]
    evaluated = [one for one in found if one.is_evaluated]
    answerable = [one for one in evaluated if one.is_answerable]
    threshold = weighted_quantile(
        np.array([unseen[id(one)] for one in answerable]),
        np.array([answer_weight(one) for one in answerable]),
        refused_share,
    )
    is_correct = (np.concatenate(correct) > 0).tolist()
    results = list(zip(np.concatenate(probabilities).tolist(), is_correct, strict=True))
    calibration = {
        "answer": name_weights(fit_answer_model(found), QUESTION_SIGNALS),
        "result": name_weights(fit_result_model(found), (*QUESTION_SIGNALS, *RESULT_SIGNALS)),
        "threshold": round(threshold, 4),
        "odds": UNANSWERABLE_WEIGHT,
    }
    return calibration, {
        "recognized": shares_below(threshold, evaluated, unseen, is_answerable=False),
        "refused": shares_below(threshold, evaluated, unseen, is_answerable=True),
        "reliability": [asdict(one) for one in bin_results(results)],
    }


def shares_below(
    threshold: float, found: Sequence[Signals], unseen: Mapping[int, float], *, is_answerable: bool
) -> dict[str, float]:
    """Return the share of questions below the threshold, by source."""
    below: dict[str, list[float]] = defaultdict(list)
    for one in found:
        if one.is_answerable == is_answerable:
            below[one.source].append(float(unseen[id(one)] < threshold))
    return {source: mean(values) for source, values in below.items()}


def name_weights(model: Floats, signals: Sequence[str]) -> dict[str, float]:
    """Return the weights of a model by signal, rounded to five digits."""
    rounded = [float(f"{value:.5g}") for value in model]
    return dict(zip((*signals, INTERCEPT), rounded, strict=True))


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return a value below which at most this share of the total weight lies."""
    order = values.argsort(kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    at = int(np.searchsorted(shares, share, side="right"))
    return float(values[order[min(at, len(values) - 1)]])


def answer_weight(one: Signals) -> float:
    """Return the weight of a question in the model that predicts whether it has an answer."""
    other = OTHER_WEIGHTS[one.voice].get(one.source)
    if other is not None:
        return other
    return 1.0 if one.is_answerable else UNANSWERABLE_WEIGHT


def fit_answer_model(found: Sequence[Signals]) -> Floats:
    """Return the model that predicts whether a question has an answer."""
    return fit_logistic(
        np.vstack([one.question for one in found]),
        np.array([float(one.is_answerable) for one in found]),
        np.array([answer_weight(one) for one in found]),
    )


def fit_result_model(found: Sequence[Signals]) -> Floats:
    """Return the model that predicts whether a result is correct.

    Questions of the source "unanswerable" are not used, because the probability that a result is
    correct never exceeds the probability that the question has an answer.
    """
    found = [one for one in found if one.source != "unanswerable"]
    weights = [
        np.full(len(one.is_correct), 1.0 if one.source in LABELED else BENCH_WEIGHT)
        for one in found
    ]
    return fit_logistic(
        np.vstack([one.rows for one in found]),
        np.concatenate([one.is_correct for one in found]),
        np.concatenate(weights),
    )


def fit_logistic(rows: Floats, outcomes: Floats, weights: Floats) -> Floats:
    """Fit a logistic model; return the weights of the columns, then the intercept.

    The ridge penalty applies to standardized columns, not to the intercept.
    """
    center, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = np.hstack([(rows - center) / deviation, np.ones((len(rows), 1))])

    def loss(theta: Floats) -> tuple[float, Floats]:
        z = scaled @ theta
        penalty = np.append(theta[:-1], 0.0) * RIDGE
        value = (weights * (np.logaddexp(0.0, z) - outcomes * z)).sum() + 0.5 * penalty @ theta
        gradient = scaled.T @ (weights * (1 / (1 + np.exp(-z)) - outcomes)) + penalty
        return float(value), gradient

    start = np.zeros(scaled.shape[1])
    theta = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    columns = theta[:-1] / deviation
    return np.append(columns, theta[-1] - center @ columns)


def probability(rows: Floats, model: Floats) -> Floats:
    """Return the predicted probability of each row."""
    probabilities: Floats = 1 / (1 + np.exp(-(rows @ model[:-1] + model[-1])))
    return probabilities


def answer_probability(signals: Signals, model: Floats) -> float:
    """Return the predicted probability that a question has an answer."""
    return float(probability(signals.question[None, :], model)[0])
