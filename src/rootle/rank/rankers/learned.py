"""The `learned` ranker: trees that correct the weighted sum, trained by `training/`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.models.shipped import RANKER_V1, model_file
from rootle.rank.rankers.feature_sum import RankedFiles, rank_files
from rootle.rank.rankers.gbdt import GradientBoostedTrees, load_trees
from rootle.rank.rankers.model_features import COLUMNS, model_columns
from rootle.rank.ranking_inputs import Floats, RankingInputs

# Only the best by the weighted sum are put in a new order: it was trained on those.
RERANKED: Final = 30
# What a score of the weighted sum is worth beside the trees; the training began from there.
SUM_SCALE: Final = 20.0


@lru_cache(maxsize=1)
def shipped_trees() -> GradientBoostedTrees:
    """The trees that ship with the package. Raises UnavailableError where they cannot be read."""
    return load_trees(model_file(RANKER_V1, "trees.npz"), COLUMNS)


def rank_learned(evidence: RankingInputs, forest: GradientBoostedTrees) -> RankedFiles:
    """Order the candidate files by the weighted sum and the trees together.

    The trees count as much as the question tells of a single place: in a few words, which name a
    topic, they were never better than the sum, and say nothing.
    """
    by_sum = rank_files(evidence)
    detail = evidence.question.detail
    if not detail or not by_sum.order:
        return by_sum
    rows = model_columns(evidence, by_sum)[list(by_sum.order[:RERANKED])]
    return corrected(by_sum, detail * forest.scores(rows) / SUM_SCALE)


def corrected(by_sum: RankedFiles, moved: Floats) -> RankedFiles:
    """The first files in a new order, after `moved` is added to their scores."""
    best = np.array(by_sum.order[: len(moved)], dtype=np.int64)
    after = by_sum.scores[best] + moved
    order = [int(at) for at in best[np.argsort(-after, kind="stable")]]
    learned = np.zeros(len(by_sum.scores))
    learned[best] = moved
    return replace(
        by_sum,
        order=(*order, *by_sum.order[len(moved) :]),
        scores=np.clip(by_sum.scores + learned, 0.0, 1.0),
        learned=learned,
    )
