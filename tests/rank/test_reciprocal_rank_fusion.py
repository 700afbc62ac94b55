"""Reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootle.protocols import RankedIds
from rootle.rank.reciprocal_rank_fusion import reciprocal_rank_fusion


def _make_ranking(ids: Sequence[int]) -> RankedIds:
    return RankedIds(np.array(ids, np.int64), np.ones(len(ids), np.float32))


def test_each_ranking_adds_the_reciprocal_of_sixty_plus_rank() -> None:
    # The scores by id are 1: 1/61 + 1/63, 2: 1/62, 3: 1/63 + 1/61, 4: 1/62.
    assert reciprocal_rank_fusion(
        [_make_ranking([1, 2, 3]), _make_ranking([3, 4, 1])], 10
    ).tolist() == [
        1,
        3,
        2,
        4,
    ]
    assert reciprocal_rank_fusion([_make_ranking([5, 6]), _make_ranking([7, 6])], 10).tolist() == [
        6,
        5,
        7,
    ]


def test_the_limit_truncates_and_no_rankings_give_no_ids() -> None:
    assert reciprocal_rank_fusion([_make_ranking([3, 1, 2])], 2).tolist() == [3, 1]
    assert reciprocal_rank_fusion([], 10).tolist() == []
    assert reciprocal_rank_fusion([_make_ranking([]), _make_ranking([])], 10).tolist() == []


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(1, 30), unique=True), max_size=4))
def test_fusion_follows_the_formula_and_keeps_the_order_of_ties(
    rankings: list[list[int]],
) -> None:
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (60 + rank)
    fused = reciprocal_rank_fusion([_make_ranking(ranking) for ranking in rankings], 1_000).tolist()
    assert sorted(fused) == sorted(scores)
    appearance = {item: at for at, item in enumerate(scores)}
    for better, worse in pairwise(fused):
        gap = scores[better] - scores[worse]
        assert gap > -1e-12
        assert appearance[better] < appearance[worse] or gap > 0
