"""The order in which documents with equal scores are returned: by path, then by line.

An order by id would depend on the history of the index. Paths and lines depend only on its content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rootle.protocols import Ids, RankedIds, Scores

_SAMPLE_STEP: Final = 16


class DocumentOrder:
    """Orders chunks and files of one generation."""

    def __init__(self, files_by_path: Sequence[int] | None = None) -> None:
        """Create an order from the ids of all files, sorted by path.

        Without `files_by_path`, files are ordered by id.
        """
        self._ranks: Ids | None = None
        if files_by_path is not None:
            files = np.array(files_by_path, np.int64)
            self._ranks = np.zeros(int(files.max(initial=-1)) + 1, np.int64)
            self._ranks[files] = np.arange(len(files))

    def positions(self, file_ids: Ids) -> Ids:
        """Return a sort key for each file. A file with a later path has a greater key."""
        if self._ranks is None or not len(self._ranks):
            return file_ids
        return self._ranks.take(file_ids, mode="clip")

    def rank(self, ids: Ids, file_ids: Ids, scores: Scores, k: int) -> RankedIds:
        """Return the k documents with the highest scores, best first.

        `file_ids` contains the file of each document. Documents with equal scores are ordered by
        path and then by id: the chunks of a file have ascending ids.
        """
        order = (-scores).argsort(kind="stable")
        ordered = scores[order]
        if (ordered[1:] == ordered[:-1]).any():
            order = np.lexsort((ids, self.positions(file_ids), -scores))
        order = order[:k]
        return RankedIds(ids[order], scores[order])


def top_positions(scores: Scores, k: int) -> Ids:
    """Return the positions of the k highest scores.

    The positions of all further scores that equal the lowest of these are included.
    """
    if len(scores) <= k:
        return np.arange(len(scores))
    # Excluding each low score by one comparison is much faster than partitioning all scores.
    sample = scores[::_SAMPLE_STEP]
    rank = 2 * (k // _SAMPLE_STEP) + _SAMPLE_STEP
    if rank < len(sample):
        high: Ids = np.flatnonzero(scores >= np.partition(sample, -rank)[-rank])
        if len(high) >= k:
            best: Ids = high[scores[high] >= np.partition(scores[high], -k)[-k]]
            return best
    return np.flatnonzero(scores >= np.partition(scores, -k)[-k])
