"""The `learned` ranker: decision trees that correct the weighted sum, trained by `training/`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.models.shipped import RANKER_V1, model_file
from rootle.rank.features import only_definers
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
# The file with the only definition of a name of the question is at this place or above.
_MAX_DEFINITION_PLACE: Final = 3


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
        return raise_definition(inputs, by_sum)
    rows = model_columns(inputs, by_sum)[list(by_sum.order[:RERANKED])]
    return raise_definition(inputs, correct_order(by_sum, detail * trees.scores(rows) / SUM_SCALE))


def raise_definition(inputs: RankingInputs, ranked: RankedFiles) -> RankedFiles:
    """Put the file with the only definition of a name of the question among the first few.

    The documents about a thing can contain more words of the question than its definition does.
    """
    defining = set(np.flatnonzero(only_definers(inputs)).tolist())
    later = ranked.order[_MAX_DEFINITION_PLACE:]
    raised = next((at for at in later if at in defining), None)
    if raised is None:
        return ranked
    others = [at for at in ranked.order if at != raised]
    place = _MAX_DEFINITION_PLACE - 1
    change = ranked.scores[others[place - 1]] - ranked.scores[raised]
    learned = np.zeros(len(ranked.scores)) if ranked.learned is None else ranked.learned.copy()
    scores = ranked.scores.copy()
    learned[raised] += change
    scores[raised] += change
    order = (*others[:place], raised, *others[place:])
    return replace(ranked, order=order, scores=scores, learned=learned)


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
