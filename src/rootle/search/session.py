"""What is worked out once for a snapshot of the index."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rootle.index.snapshot import Snapshot
from rootle.search.answer import Answer
from rootle.search.cache import AnswerCache
from rootle.search.copies import Twins
from rootle.search.gather import ChunkTable, FileRows

# Below so many rows both legs together take about a millisecond, and two threads that take turns
# at one interpreter take longer than one.
_ROWS_FOR_THREADS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Session:
    """A snapshot with what searches in it have in common; a new one begins with nothing."""

    snapshot: Snapshot
    table: ChunkTable
    rows: FileRows
    is_small: bool  # enough so to ask one leg after the other
    cache: AnswerCache[Answer] | None
    stored_state: str  # of the index, for answers on disk
    twins: Twins = field(default_factory=Twins)


def open_session(
    snapshot: Snapshot, cache: AnswerCache[Answer] | None, stored_state: str
) -> Session:
    dense = snapshot.dense
    order = np.argsort(dense.chunk_ids, kind="stable")
    table = ChunkTable(dense.chunk_ids[order], dense.file_ids[order])
    is_small = len(order) < _ROWS_FOR_THREADS
    return Session(snapshot, table, FileRows(dense.file_ids), is_small, cache, stored_state)
