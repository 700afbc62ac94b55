"""What the matrix says of the candidate files, by the rows of their chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from rootle.protocols import Ids, Ranked, Scores, Vector
from rootle.rank.ranking_inputs import Flags, Floats

# Fewer cosines are not worth the time that picking some of them takes.
_FEW_ROWS: Final = 8_192


class DenseReader(Protocol):
    """The matrix, as far as gathering needs it."""

    def scores_of(self, vector: Vector, rows: Ids) -> Scores: ...


@dataclass(frozen=True, slots=True)
class DenseFindings:
    """All that the matrix says of a question."""

    hits: Ranked
    vector: Vector
    scores: Scores | None = None  # of every row; None where nobody looked at all of them


@dataclass(frozen=True, slots=True)
class VectorScores:
    """The cosines of rows of the matrix: of all, or of those rows alone, which are in order."""

    values: Scores
    rows: Ids | None = None

    def of(self, rows: Ids) -> Scores:
        return self.values[rows if self.rows is None else self.rows.searchsorted(rows)]


class FileVectors:
    """The rows of each file in the matrix."""

    def __init__(self, file_ids: Ids) -> None:
        self._starts = np.flatnonzero(np.diff(file_ids, prepend=-1)) if len(file_ids) else None
        if self._starts is None:
            return
        owners = file_ids[self._starts]
        # A file that was written again has dead rows first; its last run is the live one.
        self._order = np.argsort(owners, kind="stable")
        self._owners = owners[self._order]
        self._lengths = np.diff(np.append(self._starts, len(file_ids)))

    def rows_of(self, files: Ids) -> tuple[Ids, Flags, Ids]:
        """The rows of some files, one file after the other; which have any; where each begins."""
        nothing = np.zeros(0, np.int64)
        if self._starts is None:
            return nothing, np.zeros(len(files), dtype=bool), nothing
        place = self._owners.searchsorted(files, side="right") - 1
        found = (place >= 0) & (self._owners[np.maximum(place, 0)] == files)
        runs = self._order[place[found]]
        lengths = self._lengths[runs]
        offsets = lengths.cumsum() - lengths
        rows = np.arange(lengths.sum()) + (self._starts[runs] - offsets).repeat(lengths)
        return rows, found, offsets


@dataclass(frozen=True, slots=True)
class FileCosines:
    """The cosines of some files."""

    rows: VectorScores  # of their chunks, small enough to be kept
    best: Floats  # of each file; 0 for one without rows
    mean: Floats


def cosines_of_files(
    matrix: DenseReader, rows_of_files: FileVectors, dense: DenseFindings | None, files: Ids
) -> FileCosines | None:
    """Those of the chunks of some files, looked up where nobody has looked at all of them."""
    if dense is None:
        return None
    rows, found, offsets = rows_of_files.rows_of(files)
    every = dense.scores
    scores = matrix.scores_of(dense.vector, rows) if every is None else every[rows]
    best, mean = best_and_mean(scores, found, offsets)
    if every is not None and len(every) <= _FEW_ROWS:
        return FileCosines(VectorScores(every), best, mean)
    if len(rows) and (rows[1:] < rows[:-1]).any():  # of files that were written again
        order = np.argsort(rows, kind="stable")
        rows, scores = rows[order], scores[order]
    return FileCosines(VectorScores(scores, rows), best, mean)


def best_and_mean(scores: Scores, found: Flags, offsets: Ids) -> tuple[Floats, Floats]:
    """The best and the mean score of each file, from those of its rows as `rows_of` gives them."""
    best, mean = np.zeros(len(found)), np.zeros(len(found))
    if not len(scores):
        return best, mean
    # Dead rows may stand right before the live ones that replaced them, in the same run.
    alive = ~np.isnan(scores)
    best[found] = np.fmax.reduceat(scores, offsets)
    sums = np.add.reduceat(np.where(alive, scores, 0), offsets)
    counts = np.add.reduceat(alive, offsets, dtype=np.int64)
    mean[found] = sums / np.maximum(counts, 1)
    best[np.isnan(best)] = 0.0  # every row of it is dead
    return best, mean
