"""Combine rankings by reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.protocols import Ids, RankedIds

_K: Final = 60  # the value in the paper cited below


def reciprocal_rank_fusion(rankings: Sequence[RankedIds], limit: int, k: int = _K) -> Ids:
    """Return the ids of all rankings, ordered by the sum of 1 / (k + rank), best first.

    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009. Ties are in the order of the rankings.
    """
    ids = np.concatenate([ranking.ids for ranking in rankings] or [np.zeros(0, np.int64)])
    gains = np.concatenate([_gains(k, len(r.ids)) for r in rankings] or [np.zeros(0)])
    if not len(ids):
        return ids
    order = ids.argsort(kind="stable")
    ordered = ids[order]
    starts = first_positions(ordered)
    scores = np.add.reduceat(gains[order], starts)
    # Ids depend on the history of an index, so ties must not be ordered by id.
    by_appearance = order[starts].argsort()
    best = by_appearance[(-scores[by_appearance]).argsort(kind="stable")][:limit]
    return ordered[starts][best]


def first_positions(ordered: Ids) -> Ids:
    """Return the position of the first occurrence of each distinct id in a sorted array."""
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first.nonzero()[0]


@lru_cache(maxsize=64)
def _gains(k: int, count: int) -> NDArray[np.float64]:
    """Return 1 / (k + rank) for each rank, best first, shape (count,)."""
    return 1 / (k + 1 + np.arange(count))
