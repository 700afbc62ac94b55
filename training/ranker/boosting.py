"""Training of gradient-boosted trees with lightgbm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import lightgbm
import numpy as np

from rootle.rank.ranking_inputs import Floats
from training.ranker.tree_arrays import Tree

ROUNDS = 200
PARAMETERS = {
    "objective": "lambdarank",
    "metric": "None",
    "learning_rate": 0.03,
    "num_leaves": 5,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "lambdarank_truncation_level": 12,
    "max_bin": 31,
    "num_threads": 1,
    "deterministic": True,
    "verbose": -1,
    "seed": 1,
}


@dataclass(frozen=True)
class RankingGroup:
    """The files of one question, as training data for lightgbm."""

    features: Floats  # one row per file
    relevance: Floats
    initial_scores: Floats
    weight: float


def train_trees(groups: Sequence[RankingGroup]) -> lightgbm.Booster:
    """Train LambdaMART (Burges, 2010), starting from the initial scores."""
    data = lightgbm.Dataset(
        np.vstack([one.features for one in groups]),
        np.concatenate([one.relevance for one in groups]),
        group=[len(one.relevance) for one in groups],
        weight=np.concatenate([np.full(len(one.relevance), one.weight) for one in groups]),
        init_score=np.concatenate([one.initial_scores for one in groups]),
    )
    return lightgbm.train(PARAMETERS, data, ROUNDS)


def booster_trees(booster: lightgbm.Booster) -> list[Tree]:
    """Return the structure of each tree of a model."""
    return [one["tree_structure"] for one in booster.dump_model()["tree_info"]]
