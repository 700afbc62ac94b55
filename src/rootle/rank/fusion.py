"""Two rankings into one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.protocols import Ids, Ranked

_K: Final = 60  # of the paper


def reciprocal_rank_fusion(rankings: Sequence[Ranked], limit: int, k: int = _K) -> Ids:
    """The ids of all rankings, best first, by the sum of 1 / (k + rank) (Cormack et al., 2009)."""
    ids = np.concatenate([ranking.ids for ranking in rankings] or [np.zeros(0, np.int64)])
    gains = np.concatenate([_gains(k, len(r.ids)) for r in rankings] or [np.zeros(0)])
    if not len(ids):
        return ids
    order = ids.argsort(kind="stable")
    ordered = ids[order]
    starts = first_of_each(ordered)
    scores = np.add.reduceat(gains[order], starts)
    # Equal scores in the order of the ids, so that they rank the same on every run.
    return ordered[starts][(-scores).argsort(kind="stable")][:limit]


def first_of_each(ordered: Ids) -> Ids:
    """Where each of some ids, which are in order, stands for the first time."""
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first.nonzero()[0]


@lru_cache(maxsize=64)
def _gains(k: int, count: int) -> NDArray[np.float64]:
    """What each place of a ranking is worth, best first."""
    return 1 / (k + 1 + np.arange(count))
