"""Estimate the probability that a file changes together with another one."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

# Trained by `training/impact/train.py`.
WEIGHTS_PATH: Final = Path(__file__).with_name("impact_weights.json")


class _Model(NamedTuple):
    bias: float
    weights: tuple[float, ...]


def estimate_probability(features: Sequence[float]) -> float:
    """Return the probability for a candidate with these features, as in `impact_features.NAMES`."""
    model = _load()
    total = model.bias + sum(
        weight * value for weight, value in zip(model.weights, features, strict=True)
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def _load() -> _Model:
    from rootle.history.impact_features import NAMES

    data = json.loads(WEIGHTS_PATH.read_text(encoding="utf-8"))
    return _Model(data["bias"], tuple(data["weights"][name] for name in NAMES))
