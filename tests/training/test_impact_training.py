"""Weights of the training examples for the model of `rootle impact`."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from benchmarks.quality.impact import Prediction

from rootle.history.cochange import Cochange
from rootle.history.impact_features import NAMES, ImpactCandidate


def make_prediction(candidates: int) -> Prediction:
    features = (0.0,) * len(NAMES)
    cochange = Cochange(0, 0.0, ())
    found = [
        ImpactCandidate(str(number), cochange, (), 0.0, features) for number in range(candidates)
    ]
    return Prediction("seed", frozenset({"0"}), tuple(found), ())


@pytest.mark.parametrize("sizes", [(3, 5), (1, 1), (40, 0, 2)])
def test_every_repository_has_the_same_weight(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # `lightgbm` is installed only for training, and reading candidates does not need it.
    monkeypatch.setitem(sys.modules, "lightgbm", ModuleType("lightgbm"))
    from training.impact.train import read_candidates

    commits = read_candidates([make_prediction(size) for size in sizes])

    assert sum(one.weight for one in commits) == pytest.approx(1.0)
    candidates = sum(one.candidate_weight * len(one.labels) for one in commits)
    assert candidates == pytest.approx(1.0)
    assert [one.labels.sum() for one in commits] == [1.0] * len(commits)
