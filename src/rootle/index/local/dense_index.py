"""Nearest neighbours over a memory-mapped matrix of int8 vectors, derived from the docstore.

Every chunk has a row, so that the rows are also the table of all chunks. One whose embedding is
still to come is all zeros, with 0 for its inverse norm.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import simsimd

from rootle.index.local.dense_storage import (
    INFO,
    DenseState,
    check_rows,
    data_path,
    delete_other_files,
    map_rows,
    read_state,
    rewritten,
    usable_state,
    write_state,
)
from rootle.index.local.row_lookup import RowLookup
from rootle.index.reader import FileChunks, Neighbors
from rootle.protocols import Ids, Matrix, Ranked, Rows, Scores, Vector
from rootle.storage.quantization import quantize

# Past this share of dead rows the scan and the disk pay more than a rewrite costs.
_MAX_DEAD_SHARE: Final = 0.25
_MIN_DEAD: Final = 1_000
_THREADS: Final = min(4, os.cpu_count() or 1)
_MANY_ROWS: Final = 20_000  # below, starting a thread costs more than it saves
_SAMPLE_STEP: Final = 16
_FLUSH_ROWS: Final = 8_192
# The first halves of many vectors put forward so many times the rows that are wanted. With the
# shipped model, whose dimensions stand in the order of what they tell, 99.6 % of the 200 nearest
# of 100,000 chunks are among them, and the scan takes a third of the time.
_FIRST_LOOK: Final = 8
# Halves that hold no more than this of the length of vectors say too little.
_TELLING_SHARE: Final = 0.65

# The dimensions of a matrix none of whose chunks has its embedding yet.
UNKNOWN_DIMENSIONS: Final = 1
# What a dead row bears in the place of its chunk and its file, so that it is taken for nobody's.
_NOBODY: Final = -2


class EmbeddedDense:
    """A reader of one generation."""

    def __init__(self, folder: Path, many_rows: int = _MANY_ROWS) -> None:
        """From `many_rows` on the nearest are looked for with the first halves of vectors."""
        state = read_state(folder)
        self.generation = state.generation
        self.dimensions = state.dimensions
        stored = map_rows(folder, state)
        samples = check_rows(folder, state, stored)
        self._stored = stored
        self._head = state.head
        # Of few rows one look at whole vectors takes less than two at halves.
        self._whole = stored.vectors(slice(None)) if state.rows < many_rows else None
        self.is_large = state.rows >= many_rows and _is_told_by(samples, state.head)
        self.chunk_ids: Ids = np.ascontiguousarray(stored.info["chunk"])
        self.file_ids: Ids = np.ascontiguousarray(stored.info["file"])
        self._inverse_norms = np.ascontiguousarray(stored.info["inverse_norm"])
        self.count = state.rows - len(state.dead)
        self._has_dead = bool(state.dead)
        # A dead row scores below every live one and is cut off by the caller's k or floor.
        if state.dead:
            dead = np.array(state.dead)
            self._inverse_norms[dead] = np.nan
            self.chunk_ids[dead] = self.file_ids[dead] = _NOBODY
        self._waits = self._inverse_norms == 0
        self.pending = int(self._waits.sum())  # chunks whose embedding is pending

    def scores(self, vector: Vector, *, is_alone: bool = True) -> Scores:
        """The cosine of every row with the vector, in the order of `chunk_ids`; NaN: a dead row.

        Where others need the cores too, one thread takes less of their time than several, which
        wait for one another at work.
        """
        query, threads = quantize(vector[None, :]), self._threads(is_alone=is_alone)
        if self._whole is not None:
            cosines = _products(query, self._whole, threads)
        else:
            cosines = _products(query[:, : self._head], self._stored.heads, threads)
            cosines += _products(query[:, self._head :], self._stored.tails, threads)
        cosines *= self._inverse_norms
        cosines /= _length(query)
        return cosines

    def scores_of(self, vector: Vector, rows: Ids) -> Scores:
        """The same for some rows, in their order, without a look at the others."""
        query = quantize(vector[None, :])
        # Half by half, as they lie: to put the halves together takes longer than to multiply.
        products = _products(query[:, : self._head], self._stored.heads.take(rows, axis=0))
        products += _products(query[:, self._head :], self._stored.tails.take(rows, axis=0))
        cosines: Scores = products * self._inverse_norms[rows] / _length(query)
        return cosines

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> Ranked:
        """At most k chunk ids, best first, by cosine similarity; only of `files` where given.

        Of a large matrix nearly all of the nearest: those that are not in sight of the first
        halves of the vectors are missed.
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
        """Return the same with the cosine of every row, in the order of `scores`.

        In a large matrix the cosines of the nearest rows are exact and the others are estimates.
        """
        if not self.is_large:
            scores = self.scores(vector, is_alone=is_alone)
            return Neighbors(self.best(scores, k, files), vector, scores)
        query, threads = quantize(vector[None, :]), self._threads(is_alone=is_alone)
        scores = _products(query[:, : self._head], self._stored.heads, threads)
        scores *= self._inverse_norms
        rows = self._best_rows(scores, _FIRST_LOOK * k, files)
        true = self.scores_of(vector, rows)
        # Divided by the question's length, with what the second halves add on the average, told
        # from where they were looked at.
        scale = float(true.sum()) / max(float(scores[rows].sum()), 1e-12)
        scores *= max(1 / _length(query), scale)
        scores[rows] = true
        return Neighbors(self._ranked(rows, true, k), vector, scores)

    def cosines(self, neighbors: Neighbors, file_ids: Ids) -> FileChunks:
        """Return all chunks of some files with their cosines; file ids are in ascending order."""
        rows = self._lookup.rows_of_files(file_ids)
        scan = neighbors.scan
        values = self.scores_of(neighbors.vector, rows) if scan is None else scan[rows]
        return FileChunks(self.chunk_ids[rows], self.file_ids[rows], values)

    def chunks_of(self, file_ids: Ids) -> FileChunks:
        """Return all chunks of some files; file ids are in ascending order."""
        rows = self._lookup.rows_of_files(file_ids)
        return FileChunks(self.chunk_ids[rows], self.file_ids[rows])

    def files_of(self, chunk_ids: Ids) -> Ids:
        """Return the file of each chunk, -1 for an unknown chunk."""
        return self._lookup.files_of_chunks(chunk_ids)

    def similarities(self, chunk_ids: Ids) -> Matrix:
        """Return the cosine of each pair of chunks, 0 for a chunk without a vector."""
        rows, known = self._lookup.rows_of_chunks(chunk_ids)
        vectors = self._stored.vectors(rows) if self._whole is None else self._whole[rows]
        # A product of floats would wake the threads of a BLAS, for a tenth of a millisecond's work.
        products = np.asarray(simsimd.cdist(vectors, vectors, "dot")).astype(np.float32)
        norms = np.where(known, self._inverse_norms[rows], 0)
        cosines: Matrix = products * norms[:, None] * norms
        return cosines

    @cached_property
    def _lookup(self) -> RowLookup:
        return RowLookup(self.chunk_ids, self.file_ids)

    def best(self, scores: Scores, k: int, files: Collection[int] | None = None) -> Ranked:
        """The k best rows of a scan."""
        rows = self._best_rows(scores, k, files)
        return self._ranked(rows, scores[rows], k)

    def _threads(self, *, is_alone: bool) -> int:
        return _THREADS if is_alone and len(self.chunk_ids) >= _MANY_ROWS else 1

    def _best_rows(self, scores: Scores, k: int, files: Collection[int] | None) -> Ids:
        usable = scores
        if self._has_dead or self.pending or files is not None:
            usable = np.where(np.isnan(scores) | self._waits, -np.inf, scores)
        if files is not None:
            usable[~np.isin(self.file_ids, np.fromiter(files, np.int64, len(files)))] = -np.inf
        k = min(k, len(usable))
        if k == 0:
            return np.zeros(0, np.int64)
        top = _top_rows(usable, k)
        return top if usable is scores else top[np.isfinite(usable[top])]

    def _ranked(self, rows: Ids, scores: Scores, k: int) -> Ranked:
        if len(rows) > 2 * k > 0:
            near = scores >= np.partition(scores, -k)[-k]
            rows, scores = rows[near], scores[near]
        ids = self.chunk_ids[rows]
        order = np.lexsort((ids, -scores))[:k]
        return Ranked(ids[order], scores[order])


def _products(query: Rows, rows: Rows, threads: int = 1) -> Scores:
    """The scalar product of a vector, of shape (1, dimensions), with each row."""
    if not rows.size:
        return np.zeros(len(rows), np.float32)
    products = simsimd.cdist(np.ascontiguousarray(query), rows, "dot", threads=threads)
    return np.asarray(products).reshape(-1).astype(np.float32)


def _length(query: Rows) -> float:
    return max(float(np.linalg.norm(query.astype(np.float32))), 1e-12)


def _is_told_by(vectors: Rows, head: int) -> bool:
    """Whether the first dimensions hold most of the length of some vectors."""
    squares = np.square(vectors.astype(np.float32))
    return float(squares[:, :head].sum()) > _TELLING_SHARE * float(squares.sum())


def _top_rows(scores: Scores, k: int) -> Ids:
    """The rows of the k highest scores, in any order."""
    # What is below the scores of a sample cannot be among the best: one comparison a row is far
    # less work than a partition of all of them.
    sample = scores[::_SAMPLE_STEP]
    rank = 2 * (k // _SAMPLE_STEP) + _SAMPLE_STEP
    if rank < len(sample):
        floor = np.partition(sample, -rank)[-rank]
        above = (scores >= floor).nonzero()[0]
        if len(above) >= k:
            top: Ids = above[(-scores[above]).argpartition(k - 1)[:k]]
            return top
    return np.argpartition(-scores, k - 1)[:k]


class DenseWriter:
    """Takes the changes of one batch; nothing is seen by readers before `commit`."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._state = usable_state(folder, dimensions)
        self._dead = set(self._state.dead)
        self._rows = self._state.rows
        self._checksum = self._state.checksum
        self._vectors: list[bytes] = []
        self._waits: list[bool] = []
        self._owners: list[tuple[int, int]] = []
        epoch = self._state.epoch
        self._files = {kind: data_path(folder, epoch, kind) for kind in self._state.row_bytes}
        self._cut_off_unfinished()

    @property
    def generation(self) -> int:
        """The generation that the matrix holds now; -1 where it must be filled from nothing."""
        return self._state.generation

    def add(self, chunk_id: int, file_id: int, vector: bytes) -> None:
        """A row; the vector is empty where it is still to come."""
        self._vectors.append(vector or bytes(self._state.dimensions))
        self._waits.append(not vector)
        self._owners.append((chunk_id, file_id))
        if len(self._vectors) >= _FLUSH_ROWS:
            self._flush()

    def remove_files(self, file_ids: Iterable[int]) -> None:
        """Drop the rows of files that were there before this batch."""
        gone = np.fromiter(set(file_ids), np.int64)
        if not gone.size or not self._state.rows:
            return
        info = np.fromfile(self._files["rows"], dtype=INFO, count=self._state.rows)
        self._dead.update(np.flatnonzero(np.isin(info["file"], gone)).tolist())

    def commit(self, generation: int) -> None:
        """Make the batch visible as `generation`, all at once."""
        self._flush()
        state = DenseState(
            generation,
            self._state.epoch,
            self._rows,
            self._state.dimensions,
            tuple(sorted(self._dead)),
            self._checksum,
        )
        if len(self._dead) > max(_MIN_DEAD, _MAX_DEAD_SHARE * self._rows):
            state = rewritten(self._folder, state)
        write_state(self._folder, state)
        kinds = state.row_bytes
        delete_other_files(self._folder, [data_path(self._folder, state.epoch, k) for k in kinds])
        self._state = state

    def _flush(self) -> None:
        if not self._vectors:
            return
        matrix = np.frombuffer(b"".join(self._vectors), dtype=np.int8)
        matrix = matrix.reshape(len(self._vectors), self._state.dimensions)
        norms = np.linalg.norm(matrix.astype(np.float32), axis=1)
        info = np.zeros(len(matrix), dtype=INFO)
        owners = np.array(self._owners, dtype=np.int64)
        info["chunk"], info["file"] = owners[:, 0], owners[:, 1]
        info["inverse_norm"] = np.where(self._waits, 0, 1 / np.maximum(norms, 1e-12))
        head = self._state.head
        columns = {"heads": matrix[:, :head], "tails": matrix[:, head:], "rows": info}
        for kind, path in self._files.items():
            with path.open("ab") as file:
                file.write(columns[kind].tobytes())
        self._checksum = zlib.crc32(info.tobytes(), self._checksum)
        self._rows += len(matrix)
        self._vectors.clear()
        self._waits.clear()
        self._owners.clear()

    def _cut_off_unfinished(self) -> None:
        for kind, row_bytes in self._state.row_bytes.items():
            with self._files[kind].open("ab") as file:
                file.truncate(self._state.rows * row_bytes)
