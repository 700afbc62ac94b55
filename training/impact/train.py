"""Train the model of `rootle impact` on the newest commits of repositories.

    python -m training.impact.train REPOSITORY... [--held-out COMMITS]

All repositories have the same weight. A model of decision trees orders the candidates of each
commit (LambdaMART). A logistic regression turns the scores of the trees into probabilities. It is
fitted to scores from trees that were not trained on the same repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import lightgbm
import numpy as np
from benchmarks.common.arguments import REPOSITORIES, command_parser
from benchmarks.quality.impact import HELD_OUT_COMMITS, Prediction, predict_held_out
from numpy.typing import NDArray

from rootle.history.impact_features import NAMES
from rootle.models.shipped import IMPACT_V1, model_file
from rootle.rank.rankers.tree_ensemble import GradientBoostedTrees, save_trees
from training.ranker.boosting import PARAMETERS, booster_trees
from training.ranker.tree_arrays import to_arrays

FOLDS = 7
_ROUNDS = 200
_STEPS = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CommitCandidates:
    """The candidate files of one commit, and which of them the commit changed."""

    features: Floats  # one row per candidate
    labels: Floats
    weight: float  # the weights of a repository's commits add up to 1
    candidate_weight: float  # of one candidate; those of a repository's candidates add up to 1


def read_candidates(predictions: Sequence[Prediction]) -> list[CommitCandidates]:
    """Return the candidates for each commit of a repository."""
    found = [one for one in predictions if one.candidates]
    count = sum(len(one.candidates) for one in found)
    return [
        CommitCandidates(
            np.array([each.features for each in one.candidates]),
            np.array([each.path in one.wanted for each in one.candidates], float),
            1 / len(found),
            1 / count,
        )
        for one in found
    ]


def train_trees(commits: Sequence[CommitCandidates]) -> GradientBoostedTrees:
    """Return the decision trees that order the candidates of each commit."""
    sizes = [len(one.labels) for one in commits]
    weights = np.array([one.weight for one in commits])
    data = lightgbm.Dataset(
        np.vstack([one.features for one in commits]),
        np.concatenate([one.labels for one in commits]),
        group=sizes,
        weight=np.repeat(weights / weights.mean(), sizes),
    )
    trees = booster_trees(lightgbm.train(PARAMETERS, data, _ROUNDS))
    return to_arrays(trees, NAMES)


def fit_probabilities(scores: Floats, labels: Floats, importance: Floats) -> tuple[float, float]:
    """Return the bias and the slope that turn scores into log-odds, by Newton's method."""
    rows = np.column_stack([np.ones(len(scores)), scores])
    weights = np.zeros(2)
    scale = importance / importance.sum()
    for _ in range(_STEPS):
        probabilities = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        gradient = rows.T @ (scale * (probabilities - labels))
        curvature = scale * probabilities * (1 - probabilities)
        step = np.linalg.solve((rows * curvature[:, None]).T @ rows, gradient)
        weights -= step
        if float(np.abs(step).max()) < 1e-9:
            break
    return float(weights[0]), float(weights[1])


def calibrate(trees: GradientBoostedTrees, bias: float, slope: float) -> GradientBoostedTrees:
    """Return trees whose scores are log-odds: the first tree adds the bias."""
    value = trees.value * slope
    value[0] += bias
    return replace(trees, value=value)


def score_held_out(
    repositories: Sequence[Sequence[CommitCandidates]],
) -> Iterator[tuple[Floats, CommitCandidates]]:
    """Yield each commit with the scores of trees that were not trained on its repository."""
    for fold in range(FOLDS):
        others = [one for at, part in enumerate(repositories) if at % FOLDS != fold for one in part]
        held_out = [one for part in repositories[fold::FOLDS] for one in part]
        if held_out:
            trees = train_trees(others)
            yield from ((trees.scores(one.features), one) for one in held_out)


def train(repositories: Sequence[Sequence[CommitCandidates]]) -> GradientBoostedTrees:
    """Return the model; there must be at least two repositories with candidates."""
    scored = list(score_held_out(repositories))
    bias, slope = fit_probabilities(
        np.concatenate([scores for scores, _ in scored]),
        np.concatenate([one.labels for _, one in scored]),
        np.concatenate([np.full(len(one.labels), one.candidate_weight) for _, one in scored]),
    )
    print(f"log-odds = {bias:.3f} + {slope:.3f} * score")
    return calibrate(train_trees([one for part in repositories for one in part]), bias, slope)


def main() -> None:
    """Write the model to the package."""
    args = command_parser(__doc__, REPOSITORIES, HELD_OUT_COMMITS).parse_args()
    repositories = []
    for path in args.repositories:
        found = read_candidates(list(predict_held_out(path, args.held_out)))
        print(f"{path.name}: {len(found)} commits", flush=True)
        if found:
            repositories.append(found)
    save_trees(model_file(IMPACT_V1, "trees.npz"), train(repositories))


if __name__ == "__main__":
    main()
