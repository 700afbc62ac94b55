"""Find rows of the vector matrix by chunk and by file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rootle.protocols import Ids


class RowLookup:
    """Finds the rows of chunks and files. Every chunk has one row, with or without a vector."""

    def __init__(self, chunk_ids: Ids, file_ids: Ids) -> None:
        """Create a lookup from the chunk id and the file id of each row.

        Both ids are negative for a deleted row.
        """
        self._rows_by_chunk = np.argsort(chunk_ids, kind="stable")
        self._chunk_ids = chunk_ids[self._rows_by_chunk]
        self._file_ids = file_ids[self._rows_by_chunk]
        # Each time a file was written, its rows were appended as one run of adjacent rows.
        starts = np.flatnonzero(np.diff(file_ids, prepend=np.int64(-1)))
        by_file = np.argsort(file_ids[starts], kind="stable")
        self._run_files = file_ids[starts][by_file]
        self._run_starts = starts[by_file]
        self._run_lengths = np.diff(np.append(starts, len(file_ids)))[by_file]

    def rows_of_chunks(self, chunk_ids: Ids) -> tuple[Ids, NDArray[np.bool_]]:
        """Return each chunk's row, and whether it has one. The matrix must not be empty."""
        at = self._positions(chunk_ids)
        return self._rows_by_chunk[at], self._chunk_ids[at] == chunk_ids

    def files_of_chunks(self, chunk_ids: Ids) -> Ids:
        """Return the file of each chunk, -1 for an unknown chunk."""
        if not len(self._chunk_ids):
            return np.full(len(chunk_ids), -1, np.int64)
        at = self._positions(chunk_ids)
        files = self._file_ids[at]
        files[self._chunk_ids[at] != chunk_ids] = -1
        return files

    def rows_of_files(self, file_ids: Ids) -> Ids:
        """Return the rows of the given files, file by file."""
        if not len(self._run_files):
            return np.zeros(0, np.int64)
        # The last run of a file is its current one.
        run = self._run_files.searchsorted(file_ids, side="right") - 1
        run = run[(run >= 0) & (self._run_files[np.maximum(run, 0)] == file_ids)]
        lengths = self._run_lengths[run]
        offsets = lengths.cumsum() - lengths
        rows: Ids = np.arange(lengths.sum()) + (self._run_starts[run] - offsets).repeat(lengths)
        return rows

    def _positions(self, chunk_ids: Ids) -> Ids:
        at = self._chunk_ids.searchsorted(chunk_ids)
        at[at == len(self._chunk_ids)] = 0
        return at
