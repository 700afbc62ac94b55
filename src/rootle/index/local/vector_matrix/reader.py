"""Nearest-neighbor search in a memory-mapped matrix of int8 vectors.

The matrix is derived from the docstore. Every chunk has a row, so the rows also serve as the table
of all chunks. While its embedding is pending, a chunk has a zero vector and the inverse norm 0.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import simsimd

from rootle.index.local.document_order import DocumentOrder, top_positions
from rootle.index.local.vector_matrix.matrix_files import check_rows, map_rows, read_state
from rootle.index.local.vector_matrix.row_lookup import RowLookup
from rootle.index.reader import FileChunks, Neighbors
from rootle.protocols import Ids, Matrix, RankedIds, Rows, Scores, Vector
from rootle.storage.quantization import quantize

_THREADS: Final = min(4, os.cpu_count() or 1)
_MANY_ROWS: Final = 20_000  # with fewer rows, threads cost more time than they save
# In a large matrix, a first scan reads only the first half of each vector. It selects this many
# times the number of requested rows. The dimensions of the shipped model are in descending order of
# variance. In a matrix of 100,000 chunks, the scan selects 99.6% of the 200 nearest chunks, and the
# search takes a third of the time of a full scan.
_OVERSAMPLING: Final = 8
# A scan in two steps requires that the first halves have at least this share of the squared norm.
_MIN_HEAD_SHARE: Final = 0.65

# Chunk and file id of a deleted row.
_DELETED_ID: Final = -2


class EmbeddedDense:
    """Reads the matrix at one generation."""

    def __init__(
        self, folder: Path, order: DocumentOrder | None = None, *, many_rows: int = _MANY_ROWS
    ) -> None:
        """Open the matrix. Chunks with equal scores are returned in `order`, by default by id.

        With at least `many_rows` vectors, a search first scans only the first half of each vector,
        provided that these halves have most of the squared norm.
        """
        state = read_state(folder)
        self.generation = state.generation
        self.dimensions = state.dimensions
        stored = map_rows(folder, state)
        samples = check_rows(folder, state, stored)
        self._stored = stored
        self._head = state.head
        self.count = state.rows - len(state.dead)
        # For few rows, one scan of whole vectors is faster than two scans of halves.
        self._whole = stored.vectors(slice(None)) if self.count < many_rows else None
        self.is_large = self.count >= many_rows and _is_front_loaded(samples, state.head)
        self._order = order or DocumentOrder()
        self.chunk_ids: Ids = np.ascontiguousarray(stored.info["chunk"])
        self.file_ids: Ids = np.ascontiguousarray(stored.info["file"])
        self._inverse_norms = np.ascontiguousarray(stored.info["inverse_norm"])
        self._has_dead = bool(state.dead)
        # NaN marks deleted rows in the scores.
        if state.dead:
            dead = np.array(state.dead)
            self._inverse_norms[dead] = np.nan
            self.chunk_ids[dead] = self.file_ids[dead] = _DELETED_ID
        self._is_pending = self._inverse_norms == 0
        self.pending = int(self._is_pending.sum())  # chunks whose embedding is pending

    def scores(self, vector: Vector, *, is_alone: bool = True) -> Scores:
        """Return the cosine of every row, in the order of `chunk_ids`; NaN for a deleted row.

        Pass `is_alone=False` if other queries are running: the scan then uses a single thread,
        which takes less CPU time in total.
        """
        query, threads = quantize(vector[None, :]), self._threads(is_alone=is_alone)
        if self._whole is not None:
            cosines = _products(query, self._whole, threads)
        else:
            cosines = _products(query[:, : self._head], self._stored.heads, threads)
            cosines += _products(query[:, self._head :], self._stored.tails, threads)
        cosines *= self._inverse_norms
        cosines /= _norm(query)
        return cosines

    def score_rows(self, vector: Vector, rows: Ids) -> Scores:
        """Return the cosines of the given rows, in order."""
        query = quantize(vector[None, :])
        # Multiply the halves separately: concatenating them takes longer than the products.
        products = _products(query[:, : self._head], self._stored.heads.take(rows, axis=0))
        products += _products(query[:, self._head :], self._stored.tails.take(rows, axis=0))
        cosines: Scores = products * self._inverse_norms[rows] / _norm(query)
        return cosines

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> RankedIds:
        """Return at most k chunk ids by cosine, best first, from `files` if given.

        In a large matrix, a few of the nearest chunks may be missed, because the first half of
        their vectors is not similar enough to the query.
        """
        return self.nearest(vector, k, files).hits

    def nearest(
        self,
        vector: Vector,
        k: int,
        files: Collection[int] | None = None,
        *,
        is_alone: bool = True,
    ) -> Neighbors:
        """Return the hits of a `query` call, and the cosine of every row, in `chunk_ids` order.

        In a large matrix, only the cosines of the nearest rows are exact; the others are estimates.
        """
        if not self.is_large:
            scores = self.scores(vector, is_alone=is_alone)
            return Neighbors(self.top_hits(scores, k, files), vector, scores)
        query, threads = quantize(vector[None, :]), self._threads(is_alone=is_alone)
        scores = _products(query[:, : self._head], self._stored.heads, threads)
        scores *= self._inverse_norms
        rows = self._best_rows(scores, _OVERSAMPLING * k, files)
        true = self.score_rows(vector, rows)
        # Divide by the norm of the query, and scale by the average contribution of the second
        # halves, which is estimated from the rows with exact cosines. `_sum` sorts the values, so
        # that the order of the rows does not affect the sum.
        scale = _sum(true) / max(_sum(scores[rows]), 1e-12)
        scores *= max(1 / _norm(query), scale)
        scores[rows] = true
        return Neighbors(self._make_hits(rows, true, k), vector, scores)

    def cosines(self, neighbors: Neighbors, file_ids: Ids) -> FileChunks:
        """Return all chunks of the given files with their cosines; `file_ids` must be ascending."""
        rows = self._lookup.rows_of_files(file_ids)
        scan = neighbors.scan
        values = self.score_rows(neighbors.vector, rows) if scan is None else scan[rows]
        return FileChunks(self.chunk_ids[rows], self.file_ids[rows], values)

    def list_chunks(self, file_ids: Ids) -> FileChunks:
        """Return all chunks of the given files; `file_ids` must be ascending."""
        rows = self._lookup.rows_of_files(file_ids)
        return FileChunks(self.chunk_ids[rows], self.file_ids[rows])

    def find_files(self, chunk_ids: Ids) -> Ids:
        """Return the file of each chunk, -1 for an unknown chunk."""
        return self._lookup.files_of_chunks(chunk_ids)

    def similarities(self, chunk_ids: Ids) -> Matrix:
        """Return the cosine of each pair of chunks, 0 for a chunk without a vector."""
        rows, known = self._lookup.rows_of_chunks(chunk_ids)
        vectors = self._stored.vectors(rows) if self._whole is None else self._whole[rows]
        # A float product would start BLAS threads for 0.1 ms of work.
        products = np.asarray(simsimd.cdist(vectors, vectors, "dot")).astype(np.float32)
        norms = np.where(known, self._inverse_norms[rows], 0)
        cosines: Matrix = products * norms[:, None] * norms
        return cosines

    def count_chunks(self, file_id: int) -> int:
        """Return the number of chunks of a file."""
        counts = self._chunk_counts
        return int(counts[file_id]) if file_id < len(counts) else 0

    @cached_property
    def _chunk_counts(self) -> Ids:
        return np.bincount(self.file_ids[self.file_ids >= 0])

    @cached_property
    def _lookup(self) -> RowLookup:
        return RowLookup(self.chunk_ids, self.file_ids)

    def top_hits(self, scores: Scores, k: int, files: Collection[int] | None = None) -> RankedIds:
        """Return the k best rows of a scan."""
        rows = self._best_rows(scores, k, files)
        return self._make_hits(rows, scores[rows], k)

    def _threads(self, *, is_alone: bool) -> int:
        return _THREADS if is_alone and len(self.chunk_ids) >= _MANY_ROWS else 1

    def _best_rows(self, scores: Scores, k: int, files: Collection[int] | None) -> Ids:
        """Return the rows with the k highest scores.

        All further rows with the lowest of these scores are included.
        """
        usable = scores
        if self._has_dead or self.pending or files is not None:
            usable = np.where(np.isnan(scores) | self._is_pending, -np.inf, scores)
        if files is not None:
            usable[~np.isin(self.file_ids, np.fromiter(files, np.int64, len(files)))] = -np.inf
        k = min(k, len(usable))
        if k == 0:
            return np.zeros(0, np.int64)
        top = top_positions(usable, k)
        return top if usable is scores else top[np.isfinite(usable[top])]

    def _make_hits(self, rows: Ids, scores: Scores, k: int) -> RankedIds:
        if len(rows) > 2 * k > 0:
            near = top_positions(scores, k)
            rows, scores = rows[near], scores[near]
        return self._order.rank(self.chunk_ids[rows], self.file_ids[rows], scores, k)


def _products(query: Rows, rows: Rows, threads: int = 1) -> Scores:
    """Return the dot product of a vector, shape (1, dimensions), with each row."""
    if not rows.size:
        return np.zeros(len(rows), np.float32)
    products = simsimd.cdist(np.ascontiguousarray(query), rows, "dot", threads=threads)
    return np.asarray(products).reshape(-1).astype(np.float32)


def _norm(query: Rows) -> float:
    return max(float(np.linalg.norm(query.astype(np.float32))), 1e-12)


def _is_front_loaded(vectors: Rows, head: int) -> bool:
    """Return whether the first dimensions contain most of the squared norm of the vectors."""
    squares = np.square(vectors.astype(np.float32))
    return float(squares[:, :head].sum()) > _MIN_HEAD_SHARE * float(squares.sum())


def _sum(values: Scores) -> float:
    return float(np.sort(values).sum(dtype=np.float64))
