"""Separation of unanswerable questions: ROC areas and thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.quality.abstention import (
    GROUPS,
    Prediction,
    auc,
    auc_interval,
    recognition_by_hits,
    required_auc,
    separation,
)


def prediction(probability: float, *, is_answerable: bool, is_answered: bool = False) -> Prediction:
    return Prediction("repo", probability, is_answerable, is_answered)


def test_the_area_is_the_share_of_correctly_ordered_pairs() -> None:
    assert auc(np.array([0.9, 0.5]), np.array([0.5, 0.1])) == pytest.approx(0.875)
    assert math.isnan(auc(np.array([]), np.array([0.1])))


def test_a_point_of_the_curve_determines_the_area() -> None:
    assert required_auc(0.5, 0.5) == pytest.approx(0.5)
    assert required_auc(0.80, 0.05) == pytest.approx(0.961, abs=1e-3)


def test_recognition_by_hits_is_the_refused_share_of_the_unanswered_questions() -> None:
    assert recognition_by_hits(0.8, 0.05) == pytest.approx(0.25)
    assert recognition_by_hits(0.99, 0.05) == recognition_by_hits(1.0, 0.05) == 1.0


@pytest.mark.slow
def test_thresholds_come_from_the_tune_split() -> None:
    tune = [prediction(number / 100, is_answerable=True, is_answered=True) for number in range(101)]
    predictions = [
        prediction(0.01, is_answerable=True),  # the search did not find the answer
        prediction(0.9, is_answerable=True, is_answered=True),
        prediction(0.04, is_answerable=False),
        prediction(0.5, is_answerable=False),
    ]
    every, answered = (separation(group, predictions, tune) for group in GROUPS)
    assert every["at_tune_thresholds"][0] == {"refused": 0.5, "recognized": 0.5}
    assert answered["at_tune_thresholds"][0] == {"refused": 0.0, "recognized": 0.5}
    assert (answered["kept"], answered["auc"]) == (1, 1.0)
    assert answered["recognized_at"]["5%"] == 1.0


@pytest.mark.slow
def test_the_interval_of_a_perfect_separation_is_a_point() -> None:
    predictions = [prediction(0.9, is_answerable=True), prediction(0.1, is_answerable=False)]
    assert auc_interval(predictions * 3, lambda one: one.is_answerable) == (1.0, 1.0)
