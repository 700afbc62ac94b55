"""Exact nearest neighbours over a memory-mapped matrix of int8 vectors, derived from the docstore.

Rows are only ever appended, and a small state file that is replaced in one step tells how many of
them count and which are dead. A reader keeps the state that it opened, so a writer never disturbs
it; a crash leaves rows that no state file speaks of, and the next writer cuts them off.

Every chunk has a row, so that the rows are also the table of all chunks. One whose embedding is
still to come is all zeros, with 0 for its inverse norm.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import simsimd
from numpy.typing import NDArray

from rootle.errors import IndexStorageError
from rootle.protocols import Ids, Matrix, Ranked, Rows, Scores, Vector
from rootle.vectors import quantize

_STATE: Final = "dense.json"
_FORMAT: Final = 3
_CURE: Final = "run `rootle index --rebuild`"
# A matrix that was overwritten or cut short and filled up again shows in any of its rows.
_SAMPLES: Final = 32
# Past this share of dead rows the scan and the disk pay more than a rewrite costs.
_MAX_DEAD_SHARE: Final = 0.25
_MIN_DEAD: Final = 1_000
_THREADS: Final = min(4, os.cpu_count() or 1)
_THREADED_ROWS: Final = 20_000  # below, starting a thread costs more than it saves
_SAMPLE_STEP: Final = 16
_FLUSH_ROWS: Final = 8_192

# The dimensions of a matrix none of whose chunks has its embedding yet.
UNKNOWN_DIMENSIONS: Final = 1
# What a dead row bears in the place of its chunk and its file, so that it is taken for nobody's.
_NOBODY: Final = -2

_INFO: Final = np.dtype([("chunk", "<i8"), ("file", "<i8"), ("inverse_norm", "<f4")])


@dataclass(frozen=True, slots=True)
class _State:
    generation: int
    epoch: int  # names the data files; a rewrite starts a new one
    rows: int
    dimensions: int
    dead: tuple[int, ...]
    checksum: int  # of the file of rows


class EmbeddedDense:
    """A reader of one generation."""

    def __init__(self, folder: Path) -> None:
        state = _read_state(folder)
        self.generation = state.generation
        self.dimensions = state.dimensions
        self._matrix, info = _map_rows(folder, state)
        _check_rows(folder, state, self._matrix, info)
        self.chunk_ids: Ids = np.ascontiguousarray(info["chunk"])
        self.file_ids: Ids = np.ascontiguousarray(info["file"])
        self._inverse_norms = np.ascontiguousarray(info["inverse_norm"])
        self._by_chunk: NDArray[np.int64] | None = None  # the rows in the order of chunk ids
        self._has_dead = bool(state.dead)
        # A dead row scores below every live one and is cut off by the caller's k or floor.
        if state.dead:
            dead = np.array(state.dead)
            self._inverse_norms[dead] = np.nan
            self.chunk_ids[dead] = self.file_ids[dead] = _NOBODY
        self._waits = self._inverse_norms == 0
        self.waiting = int(self._waits.sum())  # chunks whose embedding is still to come
        self.has_vectors = self.waiting < len(self._matrix) - len(state.dead)

    def scores(self, vector: Vector, *, is_alone: bool = True) -> Scores:
        """The cosine of every row with the vector, in the order of `chunk_ids`; NaN: a dead row.

        Where others need the cores too, one thread takes less of their time than several, which
        wait for one another at work.
        """
        if not len(self._matrix):
            return np.zeros(0, dtype=np.float32)
        query = quantize(vector[None, :])
        norm = float(np.linalg.norm(query.astype(np.float32)))
        threads = _THREADS if is_alone and len(self._matrix) >= _THREADED_ROWS else 1
        products = simsimd.cdist(query, self._matrix, "dot", threads=threads)
        cosines: Scores = np.asarray(products).reshape(-1).astype(np.float32)
        cosines *= self._inverse_norms
        cosines /= max(norm, 1e-12)
        return cosines

    def no_scores(self) -> Scores:
        """As if every row were a dead one."""
        return np.full(len(self._matrix), np.nan, dtype=np.float32)

    def scores_of(self, vector: Vector, rows: Ids) -> Scores:
        """The same as `scores` for some rows, without a look at the others, which are NaN."""
        found = self.no_scores()
        query = quantize(vector[None, :])[0].astype(np.float32)
        products = self._matrix[rows].astype(np.float32) @ query
        norm = max(float(np.linalg.norm(query)), 1e-12)
        found[rows] = products * self._inverse_norms[rows] / norm
        return found

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> Ranked:
        """At most k chunk ids, best first, by cosine similarity; only of `files` where given."""
        return self.best(self.scores(vector), k, files)

    def likeness(self, chunk_ids: Ids) -> Matrix:
        """The cosine of each of some chunks with each other; 0 with one that has no vector."""
        rows, known = self._rows_of(chunk_ids)
        vectors = np.ascontiguousarray(self._matrix[rows])
        # A product of floats would wake the threads of a BLAS, for a tenth of a millisecond's work.
        products = np.asarray(simsimd.cdist(vectors, vectors, "dot")).astype(np.float32)
        norms = np.where(known, self._inverse_norms[rows], 0)
        cosines: Matrix = products * norms[:, None] * norms
        return cosines

    def _rows_of(self, chunk_ids: Ids) -> tuple[Ids, NDArray[np.bool_]]:
        """The row of each chunk, and which of them have one."""
        if self._by_chunk is None:
            self._by_chunk = np.argsort(self.chunk_ids, kind="stable")
        at = np.searchsorted(self.chunk_ids, chunk_ids, sorter=self._by_chunk)
        rows = self._by_chunk[np.minimum(at, len(self.chunk_ids) - 1)]
        return rows, self.chunk_ids[rows] == chunk_ids

    def best(self, scores: Scores, k: int, files: Collection[int] | None = None) -> Ranked:
        """The k best rows of a scan."""
        usable = scores
        if self._has_dead or self.waiting or files is not None:
            usable = np.where(np.isnan(scores) | self._waits, -np.inf, scores)
        if files is not None:
            usable[~np.isin(self.file_ids, np.fromiter(files, np.int64, len(files)))] = -np.inf
        k = min(k, len(usable))
        if k == 0:
            return Ranked(np.zeros(0, np.int64), np.zeros(0, np.float32))
        top = _top_rows(usable, k)
        top = top[np.isfinite(usable[top])]
        order = np.lexsort((self.chunk_ids[top], -usable[top]))
        return Ranked(self.chunk_ids[top][order], usable[top][order].astype(np.float32))


def _top_rows(scores: Scores, k: int) -> Ids:
    """The rows of the k highest scores, in any order."""
    # What is below the scores of a sample cannot be among the best: one comparison a row is far
    # less work than a partition of all of them.
    sample = scores[::_SAMPLE_STEP]
    rank = 2 * (k // _SAMPLE_STEP) + _SAMPLE_STEP
    if rank < len(sample):
        floor = np.partition(sample, -rank)[-rank]
        above = np.flatnonzero(scores >= floor)
        if len(above) >= k:
            return above[np.argpartition(-scores[above], k - 1)[:k]]
    return np.argpartition(-scores, k - 1)[:k]


class DenseWriter:
    """Takes the changes of one batch; nothing is seen by readers before `commit`."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._state = _usable_state(folder, dimensions)
        self._dead = set(self._state.dead)
        self._rows = self._state.rows
        self._checksum = self._state.checksum
        self._vectors: list[bytes] = []
        self._waits: list[bool] = []
        self._owners: list[tuple[int, int]] = []
        self._files = [_data_path(folder, self._state.epoch, kind) for kind in ("vectors", "rows")]
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
        info = np.fromfile(self._files[1], dtype=_INFO, count=self._state.rows)
        self._dead.update(np.flatnonzero(np.isin(info["file"], gone)).tolist())

    def commit(self, generation: int) -> None:
        """Make the batch visible as `generation`, all at once."""
        self._flush()
        state = _State(
            generation,
            self._state.epoch,
            self._rows,
            self._state.dimensions,
            tuple(sorted(self._dead)),
            self._checksum,
        )
        if len(self._dead) > max(_MIN_DEAD, _MAX_DEAD_SHARE * self._rows):
            state = _rewritten(self._folder, state)
        _write_state(self._folder, state)
        _delete_other_epochs(self._folder, state.epoch)
        self._state = state

    def _flush(self) -> None:
        if not self._vectors:
            return
        matrix = np.frombuffer(b"".join(self._vectors), dtype=np.int8)
        matrix = matrix.reshape(len(self._vectors), self._state.dimensions)
        norms = np.linalg.norm(matrix.astype(np.float32), axis=1)
        info = np.zeros(len(matrix), dtype=_INFO)
        owners = np.array(self._owners, dtype=np.int64)
        info["chunk"], info["file"] = owners[:, 0], owners[:, 1]
        info["inverse_norm"] = np.where(self._waits, 0, 1 / np.maximum(norms, 1e-12))
        for path, rows in zip(self._files, (matrix, info), strict=True):
            with path.open("ab") as file:
                file.write(rows.tobytes())
        self._checksum = zlib.crc32(info.tobytes(), self._checksum)
        self._rows += len(matrix)
        self._vectors.clear()
        self._waits.clear()
        self._owners.clear()

    def _cut_off_unfinished(self) -> None:
        sizes = (self._state.dimensions, _INFO.itemsize)
        for path, row_bytes in zip(self._files, sizes, strict=True):
            with path.open("ab") as file:
                file.truncate(self._state.rows * row_bytes)


def discard(folder: Path) -> None:
    """Forget the matrix; the data files go with the next commit."""
    (folder / _STATE).unlink(missing_ok=True)


def stored_generation(folder: Path, dimensions: int) -> int | None:
    """The generation that the matrix in `folder` was derived from; None where it is unusable."""
    try:
        state = _read_state(folder)
        if state.dimensions != dimensions:
            return None
        _check_rows(folder, state, *_map_rows(folder, state))
        return state.generation
    except IndexStorageError:
        return None


def _read_state(folder: Path) -> _State:
    path = folder / _STATE
    try:
        data = json.loads(path.read_bytes())
        state = _State(
            int(data["generation"]),
            int(data["epoch"]),
            int(data["rows"]),
            int(data["dimensions"]),
            tuple(data["dead"]),
            int(data["checksum"]),
        )
        usable = data["format"] == _FORMAT and all(
            _data_path(folder, state.epoch, kind).stat().st_size >= state.rows * row_bytes
            for kind, row_bytes in (("vectors", state.dimensions), ("rows", _INFO.itemsize))
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexStorageError(
            f"the vector matrix at {path} is damaged or missing; {_CURE}"
        ) from error
    if not usable:
        raise IndexStorageError(
            f"the vector matrix at {path} is damaged or of another format; {_CURE}"
        )
    return state


def _usable_state(folder: Path, dimensions: int) -> _State:
    """The state to go on from, or an empty one in an epoch that no reader has open."""
    try:
        state = _read_state(folder)
    except IndexStorageError:
        state = None
    if state is not None and state.dimensions == dimensions:
        return state
    epochs = [int(path.stem.split("-")[1]) for path in folder.glob("vectors-*.bin")]
    return _State(-1, max(epochs, default=0) + 1, 0, dimensions, (), 0)


def _rewritten(folder: Path, state: _State) -> _State:
    """The live rows alone, in files of a new epoch."""
    matrix, info = _map_rows(folder, state)
    alive = np.ones(state.rows, dtype=bool)
    alive[np.array(state.dead, dtype=np.int64)] = False
    epoch = state.epoch + 1
    for kind, rows in (("vectors", matrix), ("rows", info)):
        _data_path(folder, epoch, kind).write_bytes(rows[alive].tobytes())
    checksum = zlib.crc32(info[alive].tobytes())
    return _State(state.generation, epoch, int(alive.sum()), state.dimensions, (), checksum)


def _map_rows(folder: Path, state: _State) -> tuple[Rows, NDArray[np.void]]:
    if not state.rows:
        return np.zeros((0, state.dimensions), np.int8), np.zeros(0, _INFO)
    try:
        matrix = np.memmap(
            _data_path(folder, state.epoch, "vectors"),
            dtype=np.int8,
            mode="r",
            shape=(state.rows, state.dimensions),
        )
        info = np.fromfile(_data_path(folder, state.epoch, "rows"), dtype=_INFO, count=state.rows)
    except OSError as error:
        raise IndexStorageError(f"cannot read the vector matrix in {folder}: {error}") from error
    return matrix, info


def _check_rows(folder: Path, state: _State, matrix: Rows, info: NDArray[np.void]) -> None:
    """Raise IndexStorageError where the files are not what was written.

    The rows are read anyway and checked as a whole; of the matrix, which is mapped, some samples.
    """
    samples = np.linspace(0, max(state.rows - 1, 0), min(state.rows, _SAMPLES)).astype(np.int64)
    norms = np.linalg.norm(matrix[samples].astype(np.float32), axis=1)
    expected = info["inverse_norm"][samples]
    is_as_written = np.where(
        expected == 0, norms == 0, np.isclose(1 / np.maximum(norms, 1e-12), expected, rtol=1e-4)
    )
    if zlib.crc32(info.tobytes()) != state.checksum or not is_as_written.all():
        raise IndexStorageError(f"the vector matrix in {folder} is damaged; {_CURE}")


def _data_path(folder: Path, epoch: int, kind: str) -> Path:
    return folder / f"{kind}-{epoch}.bin"


def _write_state(folder: Path, state: _State) -> None:
    data = {
        "format": _FORMAT,
        "generation": state.generation,
        "epoch": state.epoch,
        "rows": state.rows,
        "dimensions": state.dimensions,
        "dead": list(state.dead),
        "checksum": state.checksum,
    }
    # Always the same name: there is one writer, and what a killed one left is written over.
    scratch = folder / f"{_STATE}.new"
    scratch.write_text(json.dumps(data), encoding="utf-8")
    os.replace(scratch, folder / _STATE)


def _delete_other_epochs(folder: Path, epoch: int) -> None:
    """Old data files; whoever has them mapped keeps them until it lets go."""
    keep = {_data_path(folder, epoch, kind).name for kind in ("vectors", "rows")}
    for path in [*folder.glob("vectors-*.bin"), *folder.glob("rows-*.bin")]:
        if path.name not in keep:
            path.unlink(missing_ok=True)
