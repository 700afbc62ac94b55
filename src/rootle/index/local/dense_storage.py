"""The files of the vector matrix: what is on disk, told by a small file that is replaced at once.

Rows are only ever appended, and the state file tells how many of them count and which are dead. A
reader keeps the state that it opened, so a writer never disturbs it; a crash leaves rows that no
state file speaks of, and the next writer cuts them off.

The first half of every vector lies in one file and the second half in another: a scan of a large
matrix reads the first alone.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.errors import IndexStorageError
from rootle.protocols import Rows
from rootle.storage.atomic_json import DEFAULT_MODE, write_json

_STATE: Final = "dense.json"
_FORMAT: Final = 4
_CURE: Final = "run `rootle index --rebuild`"
# A matrix that was overwritten or cut short and filled up again shows in any of its rows.
_SAMPLES: Final = 32

INFO: Final = np.dtype([("chunk", "<i8"), ("file", "<i8"), ("inverse_norm", "<f4")])


@dataclass(frozen=True, slots=True)
class DenseState:
    """What the data files hold, as of one generation."""

    generation: int
    epoch: int  # names the data files; a rewrite starts a new one
    rows: int
    dimensions: int
    dead: tuple[int, ...]
    checksum: int  # of the file of rows

    @property
    def head(self) -> int:
        """How many dimensions lie in the first file."""
        return (self.dimensions + 1) // 2

    @property
    def row_bytes(self) -> dict[str, int]:
        """How long a row is in each data file."""
        tail = self.dimensions - self.head
        return {"heads": self.head, "tails": tail, "rows": INFO.itemsize}


@dataclass(frozen=True, slots=True)
class DenseRows:
    """The rows of a matrix, as they lie on disk."""

    heads: Rows  # the first half of each vector
    tails: Rows  # the second half
    info: NDArray[np.void]  # as in INFO

    def vectors(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Rows:
        """Some whole vectors."""
        return np.hstack([self.heads[rows], self.tails[rows]])


def discard(folder: Path) -> None:
    """Forget the matrix; the data files go with the next commit."""
    (folder / _STATE).unlink(missing_ok=True)


def stored_generation(folder: Path, dimensions: int) -> int | None:
    """The generation that the matrix in `folder` was derived from; None where it is unusable."""
    try:
        state = read_state(folder)
        if state.dimensions != dimensions:
            return None
        check_rows(folder, state, map_rows(folder, state))
        return state.generation
    except IndexStorageError:
        return None


def read_state(folder: Path) -> DenseState:
    path = folder / _STATE
    try:
        data = json.loads(path.read_bytes())
        state = DenseState(
            int(data["generation"]),
            int(data["epoch"]),
            int(data["rows"]),
            int(data["dimensions"]),
            tuple(data["dead"]),
            int(data["checksum"]),
        )
        usable = data["format"] == _FORMAT and all(
            data_path(folder, state.epoch, kind).stat().st_size >= state.rows * row_bytes
            for kind, row_bytes in state.row_bytes.items()
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


def usable_state(folder: Path, dimensions: int) -> DenseState:
    """The state to go on from, or an empty one in an epoch that no reader has open."""
    try:
        state = read_state(folder)
    except IndexStorageError:
        state = None
    if state is not None and state.dimensions == dimensions:
        return state
    epochs = [int(path.stem.split("-")[1]) for path in folder.glob("rows-*.bin")]
    return DenseState(-1, max(epochs, default=0) + 1, 0, dimensions, (), 0)


def rewritten(folder: Path, state: DenseState) -> DenseState:
    """The live rows alone, in files of a new epoch."""
    stored = map_rows(folder, state)
    alive = np.ones(state.rows, dtype=bool)
    alive[np.array(state.dead, dtype=np.int64)] = False
    epoch = state.epoch + 1
    for field in fields(stored):
        kind = "rows" if field.name == "info" else field.name
        data_path(folder, epoch, kind).write_bytes(getattr(stored, field.name)[alive].tobytes())
    checksum = zlib.crc32(stored.info[alive].tobytes())
    return DenseState(state.generation, epoch, int(alive.sum()), state.dimensions, (), checksum)


def map_rows(folder: Path, state: DenseState) -> DenseRows:
    tail = state.dimensions - state.head
    try:
        info = np.fromfile(data_path(folder, state.epoch, "rows"), dtype=INFO, count=state.rows)
        return DenseRows(
            _mapped(data_path(folder, state.epoch, "heads"), state.rows, state.head),
            _mapped(data_path(folder, state.epoch, "tails"), state.rows, tail),
            info,
        )
    except OSError as error:
        raise IndexStorageError(f"cannot read the vector matrix in {folder}: {error}") from error


def _mapped(path: Path, rows: int, width: int) -> Rows:
    if not rows * width:  # an empty file cannot be mapped
        return np.zeros((rows, width), np.int8)
    mapped = np.memmap(path, dtype=np.int8, mode="r", shape=(rows, width))
    return mapped.view(np.ndarray)  # every step of a plain array takes less


def check_rows(folder: Path, state: DenseState, stored: DenseRows) -> Rows:
    """Raise IndexStorageError where the files are not what was written; some sample vectors.

    The rows are read anyway and checked as a whole; of the matrix, which is mapped, some samples.
    """
    samples = np.linspace(0, max(state.rows - 1, 0), min(state.rows, _SAMPLES)).astype(np.int64)
    vectors = stored.vectors(samples)
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    expected = stored.info["inverse_norm"][samples]
    is_as_written = np.where(
        expected == 0, norms == 0, np.isclose(1 / np.maximum(norms, 1e-12), expected, rtol=1e-4)
    )
    if zlib.crc32(stored.info.tobytes()) != state.checksum or not is_as_written.all():
        raise IndexStorageError(f"the vector matrix in {folder} is damaged; {_CURE}")
    return vectors


def data_path(folder: Path, epoch: int, kind: str) -> Path:
    return folder / f"{kind}-{epoch}.bin"


def write_state(folder: Path, state: DenseState) -> None:
    data = {
        "format": _FORMAT,
        "generation": state.generation,
        "epoch": state.epoch,
        "rows": state.rows,
        "dimensions": state.dimensions,
        "dead": list(state.dead),
        "checksum": state.checksum,
    }
    write_json(folder / _STATE, data, mode=DEFAULT_MODE)


def delete_other_files(folder: Path, keep: Sequence[Path]) -> None:
    """Delete data files of other epochs and formats, and drafts of processes that were killed.

    A reader that has mapped one of them keeps its content.
    """
    for path in (*folder.glob("*-*.bin"), *folder.glob("*.new")):
        if path not in keep:
            path.unlink(missing_ok=True)
