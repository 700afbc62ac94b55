"""Embed pending chunks: a few during each update, all of them in `rootle index`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

from rootle.concurrency.backoff import Rng
from rootle.index.local.content_dir import content_dir
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.manifest import Manifest
from rootle.index.local.pending_embeddings import PendingEmbeddings
from rootle.index.local.writer_lock import writer_lock
from rootle.ingest.pending_embedding_queue import EmbeddingBudget, EmbeddingQueue
from rootle.protocols import Embedder, QueuedEmbedder
from rootle.types import IndexReport, WarningCallback

# Seconds that an update before a query may spend on embeddings.
_BUDGET_PER_UPDATE_S: Final = 1.0
# A run that embeds all chunks alternately holds the writer lock for _LOCK_DURATION_S and releases
# it for _LOCK_PAUSE_S. Other writers poll the lock every 20 milliseconds.
_LOCK_DURATION_S: Final = 10.0
_LOCK_PAUSE_S: Final = 0.05
# The timeout of a batch for which no query waits. A large model on a slow machine may need that
# long.
_BATCH_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class EmbeddingBackfill:
    """Embeds the pending chunks of one index."""

    index_dir: Path
    model: str  # the name of the model, for messages
    open_embedder: Callable[[], Embedder]
    query_timeout_s: float  # the timeout of a batch while a query waits
    on_warning: WarningCallback
    clock: Callable[[], float]
    rng: Rng

    def embed_first(
        self,
        content: Path,
        connection: sqlite3.Connection,
        report: IndexReport,
        *,
        embed_all: bool,
    ) -> IndexReport:
        """Embed for a limited time; the caller holds the writer lock. Return the new report."""
        if not embed_all:
            budget = EmbeddingBudget(_BUDGET_PER_UPDATE_S, self.query_timeout_s)
            return self._embed(content, connection, report, budget)
        if count := PendingEmbeddings(connection).backlog().count:
            self.on_warning(f"embedding {count} chunks with {self.model}")
        budget = EmbeddingBudget(_LOCK_DURATION_S, _BATCH_TIMEOUT_S, ignores_backoff=True)
        return self._embed(content, connection, report, budget)

    def embed_rest(self, report: IndexReport, on_wait: Callable[[], None]) -> IndexReport:
        """Embed until no chunk is pending or an attempt fails, releasing the lock in between."""
        budget = EmbeddingBudget(_LOCK_DURATION_S, _BATCH_TIMEOUT_S)
        embedded = report.chunks_embedded
        while report.chunks_pending and embedded:
            sleep(_LOCK_PAUSE_S)
            with (
                writer_lock(self.index_dir, -1, on_wait),
                storage_errors(self.index_dir),
                closing(open_database(content_dir(self.index_dir), create=False)) as connection,
            ):
                later = self._embed(content_dir(self.index_dir), connection, report, budget)
            embedded = later.chunks_embedded - report.chunks_embedded
            report = later
        return report

    def _embed(
        self,
        content: Path,
        connection: sqlite3.Connection,
        report: IndexReport,
        budget: EmbeddingBudget,
    ) -> IndexReport:
        pending = PendingEmbeddings(connection)
        if not pending.backlog().count:
            return replace(report, chunks_pending=0, pending_reason="")
        started = perf_counter()
        embedder = self.open_embedder()
        assert isinstance(embedder, QueuedEmbedder)
        queue = EmbeddingQueue(content, connection, embedder, clock=self.clock, rng=self.rng)
        embedded = queue.embed_due(budget)
        backlog = pending.backlog()
        return replace(
            report,
            generation=Manifest(connection).generation(),
            chunks_embedded=report.chunks_embedded + embedded,
            chunks_pending=backlog.count,
            pending_reason=backlog.reason,
            seconds=report.seconds + perf_counter() - started,
        )
