"""The weighted sum of the specification, compared with values computed by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rootle.config.weights import RerankerWeights
from rootle.rank.question.parsed import parse_question
from rootle.rank.rankers.specified_ranker import (
    file_importance,
    rank_by_weighted_sum,
    recency_boost,
    weighted_sum_scores,
)
from rootle.rank.ranking_inputs import ChunkInputs, FileInputs, RankingInputs

_WEIGHTS = RerankerWeights()


def _evidence() -> RankingInputs:
    """Return three files: a.py with two chunks, b.py with one, c.py found only by its path."""
    nothing = np.zeros(3)
    chunks = ChunkInputs(
        ids=np.array([1, 2, 3]),
        files=np.array([0, 0, 1]),
        bm25=np.array([4.0, 1.0, 2.0]),
        dense=np.array([0.2, 0.9, -0.5]),
        symbols=nothing,
        notes=nothing,
        defines=np.zeros(3, dtype=bool),
    )
    files = FileInputs(
        np.array([10, 11, 12]),
        ("a.py", "b.py", "c.py"),
        bm25=nothing,
        symbols=nothing,
        path_bm25=nothing,
        dense_best=nothing,
        dense_mean=nothing,
        coverage=nothing,
        passage=nothing,
        definers=nothing,
        days=np.array([30.0, 0.0, 0.0]),
        sizes=np.array([0.0, 100_000.0, 999.0]),
        described=nothing,
        pairs=nothing,
        triples=nothing,
    )
    return RankingInputs(parse_question("retry backoff", str.split), chunks, files)


def test_every_weight_of_the_specified_sum_affects_the_score() -> None:
    ranked = rank_by_weighted_sum(_evidence(), _WEIGHTS)
    # a.py by its second chunk: 0.5 x 0.9 + 0.3 x 1/4, half the recency, no importance.
    assert ranked.scores[0] == pytest.approx(0.5 * 0.9 + 0.3 * 0.25 + 0.1 * 0.5)
    # b.py: the cosine is clipped at 0; full recency and importance.
    assert ranked.scores[1] == pytest.approx(0.3 * 0.5 + 0.1 + 0.1)
    assert ranked.order == (0, 1, 2)  # c.py has no chunk, so it comes last


def test_other_weights_change_the_order() -> None:
    fresh = RerankerWeights(0.0, 0.0, 1.0, 0.0)
    assert rank_by_weighted_sum(_evidence(), fresh).order[0] == 1
    words = replace(_WEIGHTS, dense_score=0.0, recency_boost=0.0, file_importance=0.0)
    assert rank_by_weighted_sum(_evidence(), words).order[0] == 0


def test_recency_halves_every_thirty_days_and_importance_reaches_1_at_100000_bytes() -> None:
    assert recency_boost(np.array([0.0, 30.0, 60.0, -1.0])).tolist() == [1.0, 0.5, 0.25, 1.0]
    middle = math.log(1_001) / math.log(100_001)
    sizes = np.array([0.0, 1_000.0, 100_000.0, 1e9])
    assert file_importance(sizes).tolist() == pytest.approx([0.0, middle, 1.0, 1.0])


def test_spans_are_scored_by_the_same_sum() -> None:
    bm25, dense = np.array([4.0, 0.0]), np.array([0.0, 0.7])
    defines = np.array([False, True])  # not part of the sum
    scores = weighted_sum_scores(bm25, dense, defines, is_symbol=True, weights=_WEIGHTS)
    assert scores.tolist() == pytest.approx([0.3, 0.35])


def test_a_file_of_unknown_age_gets_the_mean_recency_of_the_others() -> None:
    boost = recency_boost(np.array([0.0, np.nan, 30.0]))
    assert boost.tolist() == [1.0, 0.75, 0.5]
    assert recency_boost(np.array([np.nan, np.nan])).tolist() == [0.0, 0.0]
