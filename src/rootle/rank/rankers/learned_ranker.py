"""The `learned` ranker: decision trees that correct the weighted sum, trained by `training/`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.models.shipped import RANKER_V1, model_file
from rootle.rank.rankers.features_ranker import RankedFiles, rank_files
from rootle.rank.rankers.learned_ranker_columns import COLUMNS, model_columns
from rootle.rank.rankers.tree_ensemble import GradientBoostedTrees, load_trees
from rootle.rank.ranking_inputs import Floats, RankingInputs

# The number of files that are reordered. The trees were trained on the same number of files: the
# best ones by the weighted sum.
RERANKED: Final = 30
# Training starts from the weighted sum times this factor, so the outputs of the trees have this
# scale.
SUM_SCALE: Final = 30.0


@lru_cache(maxsize=1)
def shipped_trees() -> GradientBoostedTrees:
    """Return the trees in the package. Raise UnavailableError if they cannot be read."""
    return load_trees(model_file(RANKER_V1, "trees.npz"), COLUMNS)


def rank_learned(inputs: RankingInputs, trees: GradientBoostedTrees) -> RankedFiles:
    """Rank the candidate files by the weighted sum corrected by the trees.

    The correction is multiplied by `Question.detail`, which is 0 for questions that just name a
    topic. For such questions, the trees were never better than the sum.
    """
    by_sum = rank_files(inputs)
    detail = inputs.question.detail
    if not detail or not by_sum.order:
        return by_sum
    rows = model_columns(inputs, by_sum)[list(by_sum.order[:RERANKED])]
    return correct_order(by_sum, detail * trees.scores(rows) / SUM_SCALE)


def correct_order(by_sum: RankedFiles, changes: Floats) -> RankedFiles:
    """Add `changes` to the scores of the first files, and reorder these files."""
    best = np.array(by_sum.order[: len(changes)], dtype=np.int64)
    after = by_sum.scores[best] + changes
    order = [int(at) for at in best[np.argsort(-after, kind="stable")]]
    learned = np.zeros(len(by_sum.scores))
    learned[best] = changes
    return replace(
        by_sum,
        order=(*order, *by_sum.order[len(changes) :]),
        scores=np.clip(by_sum.scores + learned, 0.0, 1.0),
        learned=learned,
    )
