"""The `features` ranker, which orders files by a weighted sum of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np

from rootle.rank.features import NAMES, file_features
from rootle.rank.file_kind_factors import apply_kind_factors
from rootle.rank.ranking_inputs import Floats, RankingInputs

# Values from the first prototype, unless noted. dense_best, dense_three, folders, notes and
# longer_stem were tuned for embedding model v1 (training/MODEL_CARD.md) on the development half of
# the public benchmark. If one of the other weights is changed by half, NDCG@10 usually changes by
# less than 0.003.
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "bm25_best": 0.5,
        "bm25_three": 0.5,
        "bm25_file": 0.3,
        "symbols_chunk": 0.3,
        "symbols_file": 0.2,
        "path_bm25": 0.2,
        "dense_best": 0.75,
        "dense_three": 0.5,
        "dense_mean": 0.2,
        "question_in_stem": 0.5,
        "stem_in_question": 0.2,
        "folders": 0.225,
        "stem_written_out": 0.3,
        "defines_symbol": 1.0,
        "symbol_is_stem": 0.5,
        "defines_name": 0.5,
        "coverage_file": 0.3,
        "share_of_best": 0.3,
        "chunk_best": 0.5,
        "notes": 0.15,
        # Halving or doubling these three changes NDCG@10 by less than 0.002.
        "set_aside": -0.3,
        "longer_stem": -0.5,
        "depth": -0.3,
        # Tuned, like the factors of `rank/file_kind_factors.py`, on the tune split of the labeled
        # questions and on questions from commit histories. When these two weights and the factors
        # for records and definers were introduced, they raised NDCG@10 on them by 0.04.
        "one_passage": 1.3,
        "mentions": 2.0,
        # Tuned on the tune splits of the labeled questions: those about the original repositories,
        # about copies with renamed identifiers, and about large repositories
        # (docs/decisions/0043-the-order-of-words-counts.md).
        "adjacent_pairs": 3.4,
        "adjacent_triples": 2.25,
    }
)


@dataclass(frozen=True, slots=True)
class RankedFiles:
    """Candidate files in rank order."""

    order: tuple[int, ...]  # positions among the candidate files, best first
    scores: Floats  # of every candidate; 0 or more, and seldom more than 1
    features: Floats  # contribution of each feature to the score, columns as in NAMES
    table: Floats  # unweighted features
    learned: Floats | None = None  # change that the learned ranker made to the score
    # Other contributions to the score, by name.
    signals: Mapping[str, Floats] = field(default_factory=dict)

    def scores_without(self, names: Sequence[str]) -> Floats:
        """Return the scores without the contributions of some features."""
        left_out = self.features[:, [NAMES.index(name) for name in names]].sum(axis=1)
        scores: Floats = np.maximum(self.scores - left_out, 0)
        return scores


def rank_files(inputs: RankingInputs, weights: Mapping[str, float] = WEIGHTS) -> RankedFiles:
    """Rank the candidate files.

    Without the factors, a file that is best in every feature with a positive weight scores 1.
    """
    factors = np.array([weights[name] for name in NAMES])
    table = file_features(inputs)
    contributions = table * factors / np.maximum(factors, 0).sum()
    contributions = apply_kind_factors(contributions, inputs)
    scores = np.maximum(contributions.sum(axis=1), 0)
    return RankedFiles(tuple(_sort_files(scores, inputs.files.paths)), scores, contributions, table)


def _sort_files(scores: Floats, paths: Sequence[str]) -> list[int]:
    """Return the positions of files by descending score, ties by path."""
    order = (-scores).argsort(kind="stable")
    ordered = scores[order]
    if (ordered[1:] != ordered[:-1]).all():
        positions: list[int] = order.tolist()
        return positions
    keys = list(zip((-scores).tolist(), paths, strict=True))
    return sorted(range(len(keys)), key=keys.__getitem__)
