"""Append vectors to the memory-mapped matrix, and delete the vectors of changed files."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np

from rootle.index.local.vector_matrix.matrix_files import (
    INFO,
    DenseState,
    data_path,
    delete_other_files,
    read_or_reset_state,
    read_row_table,
    rewrite_live_rows,
    write_state,
)
from rootle.storage.permissions import make_subfolder, set_file_modes

# Dimensions of a matrix in which every embedding is pending.
UNKNOWN_DIMENSIONS: Final = 1

# Above this share of deleted rows, a rewrite is cheaper than scanning the deleted rows.
_MAX_DEAD_SHARE: Final = 0.25
_MIN_DEAD: Final = 1_000
_FLUSH_ROWS: Final = 8_192


class DenseWriter:
    """Writes one batch, which readers do not see before `commit`."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        make_subfolder(folder)
        self._state = read_or_reset_state(folder, dimensions)
        self._dead = set(self._state.dead)
        self._rows = self._state.rows
        self._checksums = dict(self._state.checksums)
        self._vectors: list[bytes] = []
        self._is_pending: list[bool] = []
        self._owners: list[tuple[int, int]] = []
        epoch = self._state.epoch
        self._files = {kind: data_path(folder, epoch, kind) for kind in self._state.row_bytes}
        self._truncate_uncommitted()

    @property
    def generation(self) -> int:
        """The committed generation; -1 for an empty matrix."""
        return self._state.generation

    def add(self, chunk_id: int, file_id: int, vector: bytes) -> None:
        """Append a row; an empty vector means that the embedding is pending."""
        self._vectors.append(vector or bytes(self._state.dimensions))
        self._is_pending.append(not vector)
        self._owners.append((chunk_id, file_id))
        if len(self._vectors) >= _FLUSH_ROWS:
            self._flush()

    def remove_files(self, file_ids: Iterable[int]) -> None:
        """Delete the rows that these files had before this batch."""
        gone = np.fromiter(set(file_ids), np.int64)
        if not gone.size or not self._state.rows:
            return
        info = read_row_table(self._folder, self._state)
        self._dead.update(np.flatnonzero(np.isin(info["file"], gone)).tolist())

    def commit(self, generation: int) -> None:
        """Make the batch visible as `generation`, atomically."""
        self._flush()
        state = DenseState(
            generation,
            self._state.epoch,
            self._rows,
            self._state.dimensions,
            tuple(sorted(self._dead)),
            self._checksums,
        )
        if len(self._dead) > max(_MIN_DEAD, _MAX_DEAD_SHARE * self._rows):
            state = rewrite_live_rows(self._folder, state)
        set_file_modes(self._folder)  # before readers open the files
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
        info["inverse_norm"] = np.where(self._is_pending, 0, 1 / np.maximum(norms, 1e-12))
        head = self._state.head
        columns = {"heads": matrix[:, :head], "tails": matrix[:, head:], "rows": info}
        for kind, path in self._files.items():
            content = columns[kind].tobytes()
            with path.open("ab") as file:
                file.write(content)
            self._checksums[kind] = zlib.crc32(content, self._checksums[kind])
        self._rows += len(matrix)
        self._vectors.clear()
        self._is_pending.clear()
        self._owners.clear()

    def _truncate_uncommitted(self) -> None:
        for kind, row_bytes in self._state.row_bytes.items():
            with self._files[kind].open("ab") as file:
                file.truncate(self._state.rows * row_bytes)
