"""Read the stored chunks of a file, with their vectors."""

from __future__ import annotations

import numpy as np

from rootle.errors import SourceError
from rootle.index.local.snapshot import Snapshot
from rootle.serialization.timestamps import format_timestamp
from rootle.types import FileMetadata, TextChunk


def read_chunks(path: str, index: Snapshot) -> tuple[TextChunk, ...]:
    """Return the chunks of an indexed file in order. Raise SourceError if it is not indexed."""
    found = [state for state in index.all_files() if state.path == path and state.skip is None]
    if not found:
        raise SourceError(f"{path} is not indexed; `rootle status --skipped` may say why")
    (state,) = found
    rows = index.list_chunks(state.id)
    texts = index.excerpts([(state.id, row.start, row.end) for row in rows])
    modified_s = state.last_modified_s
    last_modified = None if modified_s is None else format_timestamp(modified_s)
    metadata = FileMetadata(last_modified, state.language, state.size)
    return tuple(
        TextChunk(path, row.seq, row.start_line, row.end_line, text, metadata, _unpack(vector))
        for row, text, vector in zip(rows, texts, index.read_vectors(state.id), strict=True)
    )


def _unpack(vector: bytes) -> tuple[float, ...] | None:
    """Return a stored vector, scaled to length 1; None if its embedding is pending."""
    row = np.frombuffer(vector, np.int8).astype(np.float32)
    length = float(np.linalg.norm(row))
    return tuple((row / length).tolist()) if length else None
