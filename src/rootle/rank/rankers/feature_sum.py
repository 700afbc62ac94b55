"""The `features` ranker: a weighted sum that orders files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np

from rootle.rank.features import (
    NAMES,
    defining_files,
    file_features,
    record_files,
    test_files,
)
from rootle.rank.ranking_inputs import Floats, RankingInputs

# First guesses of the spike that the ranking started from. Not so dense_best, dense_three, folders,
# notes and longer_stem: they were climbed on the public benchmark's development half when the
# embedding became v1 (training/MODEL_CARD.md). Most of the others move it by less than 0.003 when
# they are changed by half.
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
        # Of these three a half or a double moves it by less than 0.002.
        "set_aside": -0.3,
        "longer_stem": -0.5,
        "depth": -0.3,
        # Chosen on the tune part of our labels, and with the factors on histories too. Without
        # these two and the last two factors NDCG@10 there is lower by 0.04.
        "one_passage": 1.3,
        "mentions": 2.0,
    }
)
TEST_FACTOR: Final = 0.5
RECORD_FACTOR: Final = 0.5
DEFINER_FACTOR: Final = 0.5  # where the question is who uses a name


@dataclass(frozen=True, slots=True)
class RankedFiles:
    """Candidate files in their order."""

    order: tuple[int, ...]  # positions among the candidate files, best first
    scores: Floats  # of every candidate, 0 to 1
    features: Floats  # the share of each feature in the score, columns as in NAMES
    table: Floats  # the features as they were found, before they were weighed
    learned: Floats | None = None  # what the learned ranker added to it
    # By name what else is part of the scores; it adds up with the shares of the features.
    signals: Mapping[str, Floats] = field(default_factory=dict)


def rank_files(evidence: RankingInputs, weights: Mapping[str, float] = WEIGHTS) -> RankedFiles:
    """Order the candidate files; a score of 1 would be the best in every feature."""
    factors = np.array([weights[name] for name in NAMES])
    question = evidence.question
    table = file_features(evidence)
    parts = table * factors / np.maximum(factors, 0).sum()
    if not (question.is_about_tests or question.is_change):
        parts[test_files(evidence)] *= TEST_FACTOR
    if question.intent != "history":
        parts[record_files(evidence)] *= RECORD_FACTOR
    if question.intent == "usage":
        parts[defining_files(evidence)] *= DEFINER_FACTOR
    scores = np.maximum(parts.sum(axis=1), 0)
    return RankedFiles(tuple(_in_order(scores, evidence.files.paths)), scores, parts, table)


def _in_order(scores: Floats, paths: Sequence[str]) -> list[int]:
    """The positions of files, best first; of equal scores the paths decide."""
    order = (-scores).argsort(kind="stable")
    ordered = scores[order]
    if (ordered[1:] != ordered[:-1]).all():
        positions: list[int] = order.tolist()
        return positions
    keys = list(zip((-scores).tolist(), paths, strict=True))
    return sorted(range(len(keys)), key=keys.__getitem__)
