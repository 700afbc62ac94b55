"""When waiting chunks get their embedding: some with each search, all with `rootle index`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

from rootle.concurrency.backoff import Rng
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.manifest import Manifest
from rootle.index.local.pending_embeddings import PendingEmbeddings
from rootle.index.local.writer_lock import writer_lock
from rootle.ingest.embedding_queue import EmbeddingBudget, EmbeddingQueue
from rootle.protocols import Embedder, QueuedEmbedder
from rootle.types import IndexReport

# What a search that brings the index up to date spends on it.
_SHARE_S: Final = 1.0
# How long a command that embeds everything keeps other writers out, and then lets them in; they
# look every 20 milliseconds.
_TURN_S: Final = 10.0
_BETWEEN_TURNS_S: Final = 0.05
# For chunks alone nobody waits as for a question: a large model on a slow machine takes its time.
_BATCH_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class EmbeddingBackfill:
    """The queue of one index and the times at which it is worked off."""

    folder: Path  # of the index
    model: str  # for the on_warning
    open_embedder: Callable[[], Embedder]
    batch_timeout_s: float  # while a search waits
    on_warning: Callable[[str], None]
    clock: Callable[[], float]
    rng: Rng

    def first(
        self, connection: sqlite3.Connection, report: IndexReport, *, embed_all: bool
    ) -> IndexReport:
        """The report after the first turn; the caller holds the writer's lock."""
        if not embed_all:
            return self._turn(connection, report, EmbeddingBudget(_SHARE_S, self.batch_timeout_s))
        if count := PendingEmbeddings(connection).backlog().count:
            self.on_warning(f"embedding {count} chunks with {self.model}")
        return self._turn(
            connection, report, EmbeddingBudget(_TURN_S, _BATCH_TIMEOUT_S, insists=True)
        )

    def rest(self, report: IndexReport, on_wait: Callable[[], None]) -> IndexReport:
        """The report after all further turns, as long as they go well; takes the lock for each."""
        allowance = EmbeddingBudget(_TURN_S, _BATCH_TIMEOUT_S)
        embedded = report.chunks_embedded
        while report.chunks_pending and embedded:
            sleep(_BETWEEN_TURNS_S)
            with (
                writer_lock(self.folder, -1, on_wait),
                storage_errors(self.folder),
                closing(open_database(self.folder, create=False)) as connection,
            ):
                later = self._turn(connection, report, allowance)
            embedded = later.chunks_embedded - report.chunks_embedded
            report = later
        return report

    def _turn(
        self, connection: sqlite3.Connection, report: IndexReport, allowance: EmbeddingBudget
    ) -> IndexReport:
        pending = PendingEmbeddings(connection)
        if not pending.backlog().count:
            return replace(report, chunks_pending=0, pending_reason="")
        started = perf_counter()
        embedder = self.open_embedder()
        assert isinstance(embedder, QueuedEmbedder)
        queue = EmbeddingQueue(self.folder, connection, embedder, clock=self.clock, rng=self.rng)
        embedded = queue.work(allowance)
        backlog = pending.backlog()
        return replace(
            report,
            generation=Manifest(connection).generation(),
            chunks_embedded=report.chunks_embedded + embedded,
            chunks_pending=backlog.count,
            pending_reason=backlog.reason,
            seconds=report.seconds + perf_counter() - started,
        )
