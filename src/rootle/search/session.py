"""What is worked out once for a snapshot of the index."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rootle.concurrency.fair_semaphore import FairSemaphore
from rootle.index.local.snapshot import Snapshot
from rootle.search.cache.answer import RankedAnswer
from rootle.search.cache.answer_cache import AnswerCache
from rootle.search.cache.cache_warming import CacheWarmer
from rootle.search.results.deduplication import NearDuplicates
from rootle.search.retrieval.candidates import ChunkTable
from rootle.search.retrieval.file_vectors import FileVectors

# Two threads that take turns at one interpreter take longer than one, until the indexes themselves,
# which need no interpreter, have much to do: with 101,972 chunks a question took 9.7 ms where one
# leg was asked after the other, 10.9 ms where both were asked at once (medians, and the 95th of a
# hundred 12.9 instead of 17).
_ROWS_FOR_THREADS: Final = 200_000
# So do several questions, which hand the interpreter over at every step: of a hundred at once half
# were answered in 0.36 s by one at a time where all together took 0.88 s (8,729 chunks).
_AT_ONCE_IN_SMALL: Final = 1
_AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True)
class Session:
    """A snapshot with what searches in it have in common; a new one begins with nothing."""

    snapshot: Snapshot
    table: ChunkTable
    rows: FileVectors
    is_small: bool  # enough so to ask one leg after the other
    cache: AnswerCache[RankedAnswer] | None
    stored_state: str  # of the index, for answers on disk
    embedding: str  # the fingerprint of what made its vectors
    turns: FairSemaphore  # of questions that are worked out here
    twins: NearDuplicates = field(default_factory=NearDuplicates)
    ahead: CacheWarmer = field(default_factory=CacheWarmer)


def open_session(
    snapshot: Snapshot, cache: AnswerCache[RankedAnswer] | None, stored_state: str
) -> Session:
    dense = snapshot.dense
    order = np.argsort(dense.chunk_ids, kind="stable")
    table = ChunkTable(dense.chunk_ids[order], dense.file_ids[order])
    is_small = len(order) < _ROWS_FOR_THREADS
    turns = FairSemaphore(_AT_ONCE_IN_SMALL if is_small else _AT_ONCE)
    rows, embedding = FileVectors(dense.file_ids), snapshot.value("embedding")
    return Session(snapshot, table, rows, is_small, cache, stored_state, embedding, turns)
