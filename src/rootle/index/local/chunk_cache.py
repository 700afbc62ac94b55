"""A cache of chunk rows that is shared by all generations of an index."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from rootle.index.local.docstore import DocStore
from rootle.index.reader import ChunkRow

MAX_CHUNKS: Final = 20_000


class ChunkCache:
    """Cached chunk rows. They stay valid, because chunks are immutable and ids are never reused."""

    def __init__(self) -> None:
        self._rows: dict[int, ChunkRow] = {}
        self._has_all = False  # whether all chunks of one generation are cached
        self._lock = threading.Lock()

    def chunks(self, ids: Sequence[int], documents: DocStore) -> dict[int, ChunkRow]:
        """Return chunks by id, without unknown ids."""
        with self._lock:
            rows = self._rows
            missing = [at for at in ids if at not in rows]
            if missing:
                if len(rows) + len(missing) > MAX_CHUNKS:
                    rows.clear()  # this also drops deleted chunks
                    self._has_all = False
                    missing = list(ids)
                rows.update(documents.chunks(missing))
            return {at: rows[at] for at in ids if at in rows}

    def read_all(self, documents: DocStore) -> None:
        """Read all chunks, at most once. Call this only if there are at most MAX_CHUNKS chunks."""
        with self._lock:
            if not self._has_all:
                self._rows = documents.all_chunks()
                self._has_all = True
