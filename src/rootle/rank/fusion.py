"""Two rankings into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rootle.protocols import Ids, Ranked

_K: Final = 60  # of the paper


def reciprocal_rank_fusion(rankings: Sequence[Ranked], limit: int, k: int = _K) -> Ids:
    """The ids of all rankings, best first, by the sum of 1 / (k + rank) (Cormack et al., 2009)."""
    ids = np.concatenate([ranking.ids for ranking in rankings] or [np.zeros(0, np.int64)])
    gains = np.concatenate([1 / (k + 1 + np.arange(len(r.ids))) for r in rankings] or [np.zeros(0)])
    if not len(ids):
        return ids
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    scores = np.add.reduceat(gains[order], starts)
    # Equal scores in the order of the ids, so that they rank the same on every run.
    return ordered[starts][np.argsort(-scores, kind="stable")][:limit]
