"""The `specified` ranker: the weighted sum of four signals over chunks.

finalScore = α·denseScore + β·sparseScore + γ·recencyBoost + δ·fileImportance
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from rootle.config.weights import RerankerWeights
from rootle.rank.features import NAMES, max_per_file
from rootle.rank.rankers.features_ranker import RankedFiles
from rootle.rank.ranking_inputs import Flags, Floats, RankingInputs

_HALF_LIFE_DAYS: Final = 30.0
_IMPORTANT_BYTES: Final = 100_000


def recency_boost(days: Floats) -> Floats:
    """Return 1 for a file modified now, halved for every thirty days of age.

    A file of unknown age (NaN) gets the mean of the other files, a neutral value.
    """
    boost: Floats = 0.5 ** (np.maximum(days, 0.0) / _HALF_LIFE_DAYS)
    is_unknown = np.isnan(boost)
    if is_unknown.any():
        boost[is_unknown] = 0.0 if is_unknown.all() else boost[~is_unknown].mean()
    return boost


def file_importance(sizes: Floats) -> Floats:
    """Return 0 for an empty file, up to 1 for 100,000 bytes or more, on a logarithmic scale."""
    share: Floats = np.minimum(1.0, np.log1p(sizes) / math.log1p(_IMPORTANT_BYTES))
    return share


def chunk_sum(bm25: Floats, dense: Floats, best_bm25: float, weights: RerankerWeights) -> Floats:
    """Return α·denseScore + β·sparseScore of each chunk."""
    sparse = bm25 / best_bm25 if best_bm25 > 0 else np.zeros(len(bm25))
    total: Floats = weights.dense_score * np.clip(dense, 0.0, 1.0) + weights.sparse_score * sparse
    return total


def rank_by_weighted_sum(inputs: RankingInputs, weights: RerankerWeights) -> RankedFiles:
    """Rank the files by their best chunk; files without a candidate chunk come last."""
    chunks, files = inputs.chunks, inputs.files
    count = len(files.ids)
    best_bm25 = float(chunks.bm25.max(initial=0.0))
    of_chunks = chunk_sum(chunks.bm25, chunks.dense, best_bm25, weights)
    recency = weights.recency_boost * recency_boost(files.days)
    importance = weights.file_importance * file_importance(files.sizes)
    has_chunk = np.bincount(chunks.files, minlength=count) > 0
    best = max_per_file(of_chunks, chunks.files, count)
    scores = np.where(has_chunk, best + (recency + importance), 0.0)
    order = sorted(range(count), key=lambda at: (-scores[at], files.paths[at]))
    no_features = np.zeros((count, len(NAMES)))
    contributions = {"chunk": best, "recencyBoost": recency, "fileImportance": importance}
    signals = {name: np.where(has_chunk, values, 0.0) for name, values in contributions.items()}
    return RankedFiles(tuple(order), scores, no_features, no_features, signals=signals)


def weighted_sum_scores(
    bm25: Floats,
    dense: Floats,
    defines: Flags,  # noqa: ARG001 - the sum ignores names
    *,
    is_symbol: bool,  # noqa: ARG001
    weights: RerankerWeights,
) -> Floats:
    """Score the chunks of one page by α·denseScore + β·sparseScore, without the rest of the sum."""
    return chunk_sum(bm25, dense, float(bm25.max(initial=0.0)), weights)
