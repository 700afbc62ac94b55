"""The files of the vector matrix, and the state file that describes them.

Rows are only appended. The state file, which is replaced atomically, contains the number of valid
rows and a list of the deleted ones. A reader keeps the state that it opened. After a crash, the
next writer removes the rows that the state does not include.

The first and the second half of each vector are in separate files: the first pass over a large
matrix reads only the first halves.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.errors import IndexStorageError, UnreadableIndexError
from rootle.index.local.read_errors import unreadable
from rootle.protocols import Rows
from rootle.storage.atomic_json import write_json
from rootle.storage.permissions import file_mode

_STATE: Final = "dense.json"
_FORMAT: Final = 5
_REMEDY: Final = "run `rootle index --rebuild`"
# The number of rows that are sampled to measure how the squared norm is distributed over the
# dimensions.
_SAMPLES: Final = 32

INFO: Final = np.dtype([("chunk", "<i8"), ("file", "<i8"), ("inverse_norm", "<f4")])


@dataclass(frozen=True, slots=True)
class DenseState:
    """The content of the data files at one generation."""

    generation: int
    epoch: int  # part of the file names; a rewrite starts a new epoch
    rows: int
    dimensions: int
    dead: tuple[int, ...]  # numbers of deleted rows
    checksums: Mapping[str, int]  # CRC-32 of the valid rows of each data file

    @property
    def head(self) -> int:
        """Number of dimensions in the first file."""
        return (self.dimensions + 1) // 2

    @property
    def row_bytes(self) -> dict[str, int]:
        """Size of a row in each data file."""
        tail = self.dimensions - self.head
        return {"heads": self.head, "tails": tail, "rows": INFO.itemsize}


@dataclass(frozen=True, slots=True)
class DenseRows:
    """The rows of a matrix in the layout of the files."""

    heads: Rows  # the first half of each vector
    tails: Rows  # the second half
    info: NDArray[np.void]  # with the dtype INFO

    def vectors(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Rows:
        """Return the complete vectors of the given rows."""
        return np.hstack([self.heads[rows], self.tails[rows]])


def discard(folder: Path) -> None:
    """Delete the state; the next commit deletes the data files."""
    (folder / _STATE).unlink(missing_ok=True)


def stored_generation(folder: Path, dimensions: int) -> int | None:
    """Return the generation of the matrix in `folder`; None if it is unusable.

    Raises UnreadableIndexError if it cannot be read now.
    """
    try:
        state = read_state(folder)
        if state.dimensions != dimensions:
            return None
        check_rows(folder, state, map_rows(folder, state))
        return state.generation
    except UnreadableIndexError:
        raise
    except IndexStorageError:
        return None


def read_state(folder: Path) -> DenseState:
    """Read the state.

    Raises UnreadableIndexError if it cannot be read now, and IndexStorageError if it is missing or
    damaged.
    """
    path = folder / _STATE
    try:
        data = json.loads(path.read_bytes())
        state = DenseState(
            int(data["generation"]),
            int(data["epoch"]),
            int(data["rows"]),
            int(data["dimensions"]),
            tuple(data["dead"]),
            data["checksums"],
        )
        is_usable = data == _encode_state(state) and all(
            data_path(folder, state.epoch, kind).stat().st_size >= state.rows * row_bytes
            for kind, row_bytes in state.row_bytes.items()
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise IndexStorageError(
            f"the vector matrix at {path} is damaged or missing; {_REMEDY}"
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if not is_usable:
        raise IndexStorageError(
            f"the vector matrix at {path} is damaged or of another format; {_REMEDY}"
        )
    return state


def read_or_reset_state(folder: Path, dimensions: int) -> DenseState:
    """Return the current state, or an empty one in an unused epoch.

    The state is empty if the stored one is missing, damaged or for other dimensions. If the stored
    state exists but cannot be read now, this raises UnreadableIndexError: with an empty state, the
    next write would discard all rows.
    """
    try:
        state = read_state(folder)
    except UnreadableIndexError:
        raise
    except IndexStorageError:
        state = None
    if state is not None and state.dimensions == dimensions:
        return state
    epochs = [int(path.stem.split("-")[1]) for path in folder.glob("rows-*.bin")]
    checksums = {"heads": 0, "tails": 0, "rows": 0}
    return DenseState(-1, max(epochs, default=0) + 1, 0, dimensions, (), checksums)


def rewrite_live_rows(folder: Path, state: DenseState) -> DenseState:
    """Write the live rows to files of a new epoch, and return their state."""
    stored = map_rows(folder, state)
    alive = np.ones(state.rows, dtype=bool)
    alive[np.array(state.dead, dtype=np.int64)] = False
    epoch = state.epoch + 1
    checksums = {}
    for field in fields(stored):
        kind = "rows" if field.name == "info" else field.name
        content = getattr(stored, field.name)[alive].tobytes()
        data_path(folder, epoch, kind).write_bytes(content)
        checksums[kind] = zlib.crc32(content)
    return DenseState(state.generation, epoch, int(alive.sum()), state.dimensions, (), checksums)


def map_rows(folder: Path, state: DenseState) -> DenseRows:
    """Memory-map the vectors and read the row table. Raises UnreadableIndexError if this fails."""
    tail = state.dimensions - state.head
    info = read_row_table(folder, state)
    try:
        return DenseRows(
            _map_file(data_path(folder, state.epoch, "heads"), state.rows, state.head),
            _map_file(data_path(folder, state.epoch, "tails"), state.rows, tail),
            info,
        )
    except OSError as error:
        raise unreadable(folder, error) from error


def read_row_table(folder: Path, state: DenseState) -> NDArray[np.void]:
    """Return the chunk, the file and the inverse norm of each row.

    Raises UnreadableIndexError if the file cannot be read completely.
    """
    path = data_path(folder, state.epoch, "rows")
    try:
        info = np.fromfile(path, dtype=INFO, count=state.rows)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(info) < state.rows:  # `fromfile` returns what it has read before an error
        raise unreadable(path, "a read was incomplete")
    return info


def _map_file(path: Path, rows: int, width: int) -> Rows:
    if not rows * width:  # an empty file cannot be mapped
        return np.zeros((rows, width), np.int8)
    matrix = np.memmap(path, dtype=np.int8, mode="r", shape=(rows, width))
    return matrix.view(np.ndarray)  # operations on memmap objects are slower


def check_rows(folder: Path, state: DenseState, stored: DenseRows) -> Rows:
    """Verify the checksums of the files, and return sample vectors.

    Raises IndexStorageError if a file is damaged.
    """
    found = {
        "heads": zlib.crc32(stored.heads.data),
        "tails": zlib.crc32(stored.tails.data),
        "rows": zlib.crc32(stored.info.data),
    }
    if found != state.checksums:
        raise IndexStorageError(f"the vector matrix in {folder} is damaged; {_REMEDY}")
    samples = np.linspace(0, max(state.rows - 1, 0), min(state.rows, _SAMPLES)).astype(np.int64)
    return stored.vectors(samples)


def data_path(folder: Path, epoch: int, kind: str) -> Path:
    """Return the path of a data file; `kind` is a key of `DenseState.row_bytes`."""
    return folder / f"{kind}-{epoch}.bin"


def write_state(folder: Path, state: DenseState) -> None:
    """Replace the state file atomically."""
    write_json(folder / _STATE, _encode_state(state), mode=file_mode(folder))


def _encode_state(state: DenseState) -> dict[str, object]:
    """Return the content of the state file, with its own checksum."""
    content = {
        "format": _FORMAT,
        "generation": state.generation,
        "epoch": state.epoch,
        "rows": state.rows,
        "dimensions": state.dimensions,
        "dead": list(state.dead),
        "checksums": dict(state.checksums),
    }
    return {**content, "checksum": zlib.crc32(json.dumps(content, sort_keys=True).encode())}


def delete_other_files(folder: Path, keep: Sequence[Path]) -> None:
    """Delete data files of other epochs and formats, and temporary files of killed processes.

    Readers that have mapped such a file can still read it.
    """
    for path in (*folder.glob("*-*.bin"), *folder.glob("*.new")):
        if path not in keep:
            path.unlink(missing_ok=True)
