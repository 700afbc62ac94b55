"""Rows of chunks that were read once, for all generations of an index."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from rootle.index.local.docstore import DocStore
from rootle.index.reader import ChunkRow

MOST_CHUNKS: Final = 20_000


class ChunkCache:
    """A chunk never changes and its id is never used twice: what was read holds for good."""

    def __init__(self) -> None:
        self._rows: dict[int, ChunkRow] = {}
        self._has_all = False  # of one generation; what came since is read when it is asked for
        self._lock = threading.Lock()

    def chunks(self, ids: Sequence[int], documents: DocStore) -> dict[int, ChunkRow]:
        """Chunks by their ids; ids that are unknown are left out."""
        with self._lock:
            rows = self._rows
            missing = [at for at in ids if at not in rows]
            if missing:
                if len(rows) + len(missing) > MOST_CHUNKS:
                    rows.clear()  # of those that are gone too
                    self._has_all = False
                    missing = list(ids)
                rows.update(documents.chunks(missing))
            return {at: rows[at] for at in ids if at in rows}

    def read_all(self, documents: DocStore) -> None:
        """Read every chunk that there is, once; for indexes of no more than MOST_CHUNKS."""
        with self._lock:
            if not self._has_all:
                self._rows = documents.all_chunks()
                self._has_all = True
