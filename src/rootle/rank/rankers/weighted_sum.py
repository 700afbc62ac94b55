"""The `specified` ranker: the weighted sum of four signals over chunks.

finalScore = α·denseScore + β·sparseScore + γ·recencyBoost + δ·fileImportance
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from rootle.config.weights import RerankerWeights
from rootle.rank.features import NAMES, best_of_file
from rootle.rank.rankers.feature_sum import RankedFiles
from rootle.rank.ranking_inputs import Flags, Floats, RankingInputs

_HALF_LIFE_DAYS: Final = 30.0
_IMPORTANT_BYTES: Final = 100_000


def recency_boost(days: Floats) -> Floats:
    """1 for a file modified just now, half of it for every thirty days since."""
    boost: Floats = 0.5 ** (np.maximum(days, 0.0) / _HALF_LIFE_DAYS)
    return boost


def file_importance(sizes: Floats) -> Floats:
    """0 for an empty file, 1 from 100,000 bytes on, by the logarithm of its bytes."""
    share: Floats = np.minimum(1.0, np.log1p(sizes) / math.log1p(_IMPORTANT_BYTES))
    return share


def chunk_sum(bm25: Floats, dense: Floats, best_bm25: float, weights: RerankerWeights) -> Floats:
    """What the two legs give to each chunk: α·denseScore + β·sparseScore."""
    sparse = bm25 / best_bm25 if best_bm25 > 0 else np.zeros(len(bm25))
    total: Floats = weights.dense_score * np.clip(dense, 0.0, 1.0) + weights.sparse_score * sparse
    return total


def rank_by_weighted_sum(evidence: RankingInputs, weights: RerankerWeights) -> RankedFiles:
    """Order the files by their best chunk; those that are here without a chunk come last."""
    chunks, files = evidence.chunks, evidence.files
    count = len(files.ids)
    best_bm25 = float(chunks.bm25.max(initial=0.0))
    of_chunks = chunk_sum(chunks.bm25, chunks.dense, best_bm25, weights)
    recency = weights.recency_boost * recency_boost(files.days)
    importance = weights.file_importance * file_importance(files.sizes)
    has_chunk = np.bincount(chunks.files, minlength=count) > 0
    best = best_of_file(of_chunks, chunks.files, count)
    scores = np.where(has_chunk, best + (recency + importance), 0.0)
    order = sorted(range(count), key=lambda at: (-scores[at], files.paths[at]))
    nothing = np.zeros((count, len(NAMES)))
    gave = {"chunk": best, "recencyBoost": recency, "fileImportance": importance}
    signals = {name: np.where(has_chunk, values, 0.0) for name, values in gave.items()}
    return RankedFiles(tuple(order), scores, nothing, nothing, signals=signals)


def weighted_sum_scores(
    bm25: Floats,
    dense: Floats,
    defines: Flags,  # noqa: ARG001 - the sum knows nothing of names
    *,
    is_symbol: bool,  # noqa: ARG001
    weights: RerankerWeights,
) -> Floats:
    """Scores for the chunks of one page by the same sum; what a file adds is the same for all."""
    return chunk_sum(bm25, dense, float(bm25.max(initial=0.0)), weights)
