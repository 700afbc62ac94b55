"""Train the model of `rootle impact` on the newest commits of repositories.

    python -m training.impact.train REPOSITORY...

Each repository counts equally. The model is a logistic regression with a quadratic penalty; its
weights refer to the features as they are, so that they can be read.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from benchmarks.common.arguments import command_parser
from benchmarks.quality.impact import HELD_OUT, predict_held_out
from numpy.typing import NDArray

from rootle.history.impact_features import NAMES, WEIGHTS_PATH

_PENALTY = 1e-3
_STEPS = 50

Floats = NDArray[np.float64]


def fit(features: Floats, labels: Floats, importance: Floats) -> tuple[float, Floats]:
    """Return the bias and the weights of the features, by Newton's method."""
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation[deviation == 0] = 1.0
    rows = np.column_stack([np.ones(len(features)), (features - mean) / deviation])
    penalty = np.full(rows.shape[1], _PENALTY)
    penalty[0] = 0.0
    weights = np.zeros(rows.shape[1])
    scale = importance / importance.sum()
    for _ in range(_STEPS):
        probabilities = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        gradient = rows.T @ (scale * (probabilities - labels)) + penalty * weights
        curvature = scale * probabilities * (1 - probabilities)
        hessian = (rows * curvature[:, None]).T @ rows + np.diag(penalty + 1e-9)
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if float(np.abs(step).max()) < 1e-9:
            break
    raw = weights[1:] / deviation
    return float(weights[0] - raw @ mean), raw


def main() -> None:
    """Write the weights to the package."""
    parser = command_parser(__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--held-out", type=int, default=HELD_OUT)
    args = parser.parse_args()
    features: list[Floats] = []
    labels: list[Floats] = []
    importance: list[Floats] = []
    for repository in args.repositories:
        found = [
            (one.features, one.path in prediction.wanted)
            for prediction in predict_held_out(repository, args.held_out)
            for one in prediction.candidates
        ]
        print(f"{repository.name}: {len(found)} candidates", flush=True)
        if not found:
            continue
        features.append(np.array([values for values, _ in found]))
        labels.append(np.array([label for _, label in found], float))
        importance.append(np.full(len(found), 1 / len(found)))
    bias, weights = fit(*map(np.concatenate, (features, labels, importance)))
    data = {
        "bias": round(bias, 4),
        "weights": dict(zip(NAMES, (round(float(one), 4) for one in weights), strict=True)),
    }
    WEIGHTS_PATH.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(data, indent=2))


if __name__ == "__main__":
    main()
