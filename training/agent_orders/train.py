"""Train the word weights that detect orders to agents (prompt injections).

    python -m benchmarks.quality.clone_repos training/agent_orders REPOS
    python -m training.agent_orders.train PACKAGES --ordinary DOCS --more REPOS DEBIAN

PACKAGES and DOCS are those of benchmarks/quality/agent_orders.py; only their development halves are
read. REPOS has checkouts of the repositories in repositories.json, and DEBIAN has unpacked packages
of Debian, which docs/research/agent-orders.md lists; their documentation is ordinary text too. The
threshold is chosen by cross-validation, so that 0.2 percent of the ordinary passages in DOCS, REPOS
and DEBIAN are flagged.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.sparse as sparse
from benchmarks.common.arguments import command_parser
from benchmarks.quality.agent_orders import (
    ATTACKS,
    DEVELOPMENT,
    ORDINARY,
    PASSAGES,
    LabeledText,
    read_attacks,
    read_authors,
    read_borderline,
    read_ordinary,
)
from numpy.typing import NDArray
from scipy.optimize import minimize

from rootle.text.agent_orders.detector import THRESHOLD, match_signs, normalize
from rootle.text.agent_orders.linear_model import WEIGHTS_PATH, LinearModel, read_windows
from rootle.text.agent_orders.order_features import WINDOW_SENTENCES

_FOLDS: Final = 5
_PER_REPOSITORY: Final = 1_500  # maximum number of ordinary passages of one repository or package
_FALSE_ALARMS: Final = 0.002
_MAX_FEATURES: Final = 8_000
_MIN_ATTACKS, _MIN_ORDINARY = 2, 30  # minimum numbers of texts with a feature
_PENALTY: Final = 1.0
_ATTACK_WEIGHT, _ORDINARY_WEIGHT, _SHORT_WEIGHT = 5.0, 0.5, 0.1
_ROUNDS: Final = 3

Floats = NDArray[np.float64]
Windows = Sequence[Mapping[str, float]]  # features of each window of one text


def measure_windows(text: str, size: int = WINDOW_SENTENCES) -> Windows:
    """Return the features of the windows of a text; a window is a few consecutive sentences."""
    plain = normalize(text)
    return [features for _, _, features in read_windows(plain, match_signs(plain), size)]


def text_score(model: LinearModel, windows: Windows) -> float:
    """Return the highest score of the windows of a text."""
    return max(map(model.score, windows), default=-99.0)


def fit(rows: Any, labels: Floats, importance: Floats) -> tuple[float, Floats]:
    """Return the bias and the weights of a logistic regression with a quadratic penalty.

    `rows` is a SciPy matrix with one row for each window; `importance` has the weight of each row.
    """

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights, bias = parameters[:-1], parameters[-1]
        scores = rows @ weights + bias
        value = importance @ (np.logaddexp(0, scores) - labels * scores)
        error = importance * (1 / (1 + np.exp(-scores)) - labels)
        slope = np.append(rows.T @ error + _PENALTY * weights, error.sum())
        return float(value + _PENALTY / 2 * weights @ weights), slope

    start = np.zeros(rows.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    return float(found[-1]), found[:-1]


def train(
    attacks: Sequence[Windows], ordinary: Sequence[Windows], short: Sequence[Windows]
) -> LinearModel:
    """Return a model whose positive scores indicate orders.

    `short` has the single sentences of the ordinary passages as windows, because a text may consist
    of a single sentence.

    It is not known which window of an attack contains the orders. The first round uses all windows
    of an attack, and each later round uses the window that the model of the previous round scores
    highest.
    """
    names = _common_features(attacks, ordinary)
    negatives = [window for windows in (*ordinary, *short) for window in windows]
    passages = sum(map(len, ordinary))
    model = LinearModel(0.0, {})
    for turn in range(_ROUNDS):
        chosen = [
            (window, 1 / len(windows) if turn == 0 else 1.0)
            for windows in filter(None, attacks)
            for window in (windows if turn == 0 else [max(windows, key=model.score)])
        ]
        if turn == _ROUNDS - 1:
            names = sorted(names, key=lambda one: -abs(model.weights[one]))[:_MAX_FEATURES]
        rows = _matrix([*(window for window, _ in chosen), *negatives], names)
        labels = np.concatenate([np.ones(len(chosen)), np.zeros(len(negatives))])
        importance = np.concatenate(
            [
                _ATTACK_WEIGHT * np.array([share for _, share in chosen]),
                np.full(passages, _ORDINARY_WEIGHT),
                np.full(len(negatives) - passages, _SHORT_WEIGHT),
            ]
        )
        bias, weights = fit(rows, labels, importance)
        model = LinearModel(bias, dict(zip(names, weights.tolist(), strict=True)))
    return model


def _common_features(attacks: Sequence[Windows], ordinary: Sequence[Windows]) -> list[str]:
    """Return the features of several attacks, and the words of many ordinary texts."""
    in_attacks, in_ordinary = (
        Counter(name for windows in texts for name in set[str]().union(*windows))
        for texts in (attacks, ordinary)
    )
    return sorted(
        name
        for name in in_attacks.keys() | in_ordinary.keys()
        if in_attacks[name] >= _MIN_ATTACKS
        or (in_ordinary[name] >= _MIN_ORDINARY and " " not in name)
    )


def _matrix(windows: Windows, names: Sequence[str]) -> Any:
    column = {name: at for at, name in enumerate(names)}
    ends, columns, values = [0], list[int](), list[float]()
    for window in windows:
        known = [(column[name], value) for name, value in window.items() if name in column]
        columns.extend(at for at, _ in known)
        values.extend(value for _, value in known)
        ends.append(len(columns))
    return sparse.csr_matrix((values, columns, ends), shape=(len(windows), len(names)))


def choose_threshold(scores: Sequence[float], share: float) -> float:
    """Return a threshold that at most this share of the scores exceeds."""
    return sorted(scores, reverse=True)[int(share * len(scores))]


def cross_validate(
    attacks: Sequence[Windows], ordinary: Sequence[Windows], short: Sequence[Windows]
) -> tuple[list[float], list[float], list[LinearModel]]:
    """Return each text's score, given by a model that was trained without it, and all models."""
    choice = np.random.default_rng(1)
    folds = [choice.integers(0, _FOLDS, len(texts)) for texts in (attacks, ordinary)]
    scores = [[0.0] * len(attacks), [0.0] * len(ordinary)]
    models = []
    for fold in range(_FOLDS):
        model = train(
            [one for one, at in zip(attacks, folds[0], strict=True) if at != fold],
            [one for one, at in zip(ordinary, folds[1], strict=True) if at != fold],
            [one for one, at in zip(short, folds[1], strict=True) if at != fold],
        )
        models.append(model)
        for kind, texts in enumerate((attacks, ordinary)):
            for at in np.flatnonzero(folds[kind] == fold).tolist():
                scores[kind][at] = text_score(model, texts[at])
    return scores[0], scores[1], models


def average(models: Sequence[LinearModel]) -> LinearModel:
    """Return the mean of models, reduced to the largest weights."""
    total: dict[str, float] = defaultdict(float)
    for model in models:
        for name, weight in model.weights.items():
            total[name] += weight / len(models)
    names = sorted(total, key=lambda one: -abs(total[one]))[:_MAX_FEATURES]
    bias = sum(model.bias for model in models) / len(models)
    return LinearModel(bias, {name: total[name] for name in names})


def shift(model: LinearModel, by: float) -> LinearModel:
    """Return a model with a shifted bias and rounded weights, without weights that round to 0."""
    rounded = {name: round(weight, 2) for name, weight in sorted(model.weights.items())}
    return LinearModel(
        round(model.bias + by, 3), {name: weight for name, weight in rounded.items() if weight}
    )


def main(write: Callable[[str], object] = WEIGHTS_PATH.write_text) -> None:
    """Write the weights to the package, and print the figures of the cross-validation."""
    parser = command_parser(__doc__, ATTACKS, ORDINARY, PASSAGES)
    parser.add_argument("--more", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    attacks = _select_development([*read_authors(), *read_attacks(args.packages)])
    documentation = _select_development(read_ordinary(args.ordinary, args.count))
    more = read_repositories(args.more)
    ordinary = [*documentation, *_select_development(read_borderline()), *more]
    found, false, models = cross_validate(
        [measure_windows(one.text) for one in attacks],
        [measure_windows(one.text) for one in ordinary],
        [measure_windows(one.text, 1) for one in ordinary],
    )
    scores_of_ordinary = [*false[: len(documentation)], *false[len(false) - len(more) :]]
    threshold = choose_threshold(scores_of_ordinary, _FALSE_ALARMS)
    scores_of = defaultdict[str, list[float]](list)
    for one, score in zip((*attacks, *ordinary), (*found, *false), strict=True):
        scores_of[one.origin].append(score)
    for origin, scores in scores_of.items():
        flagged = sum(score > threshold for score in scores)
        print(f"{origin:22} {flagged:5} of {len(scores):5}: {flagged / len(scores):.4f}")
    model = shift(average(models), THRESHOLD - threshold)
    data = {"bias": model.bias, "weights": model.weights}
    write(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")


def read_repositories(folders: Sequence[Path]) -> list[LabeledText]:
    """Return ordinary passages of the repositories in folders, of each at most 1,500."""
    repositories = sorted(one for folder in folders for one in folder.iterdir() if one.is_dir())
    return [
        replace(passage, origin="repositories")
        for repository in repositories
        for passage in read_ordinary([repository], _PER_REPOSITORY)
    ]


def _select_development(texts: Sequence[LabeledText]) -> list[LabeledText]:
    return [one for one in texts if one.half == DEVELOPMENT]


if __name__ == "__main__":
    main()
