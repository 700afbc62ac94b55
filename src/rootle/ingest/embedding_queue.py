"""Gives chunks that can be found by their words the vectors that they still wait for."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rootle.concurrency.backoff import Backoff, Rng
from rootle.errors import UnavailableError
from rootle.index.local.dense_index import UNKNOWN_DIMENSIONS
from rootle.index.local.derived_indexes import DerivedWriter, measure_lag
from rootle.index.local.docstore import DocStore
from rootle.index.local.manifest import Manifest
from rootle.index.local.pending_embeddings import PendingChunk, PendingEmbeddings, RetryDelay
from rootle.ingest.analyze import document_heading, embedded_text
from rootle.ingest.embedding_batch import embed_texts
from rootle.protocols import QueuedEmbedder
from rootle.storage.quantization import quantize
from rootle.storage.transaction import write_transaction

_LOG = logging.getLogger(__name__)

# A crash costs at most one step; each ends with a commit of all indexes, a tenth of a second.
_STEP_CHUNKS: Final = 512
_STEP_S: Final = 5.0
# A model that is down is asked after half a minute, and at last once an hour.
_PAUSES: Final = Backoff(first_s=30.0, longest_s=3_600.0)
# A text that a model refuses will hardly please it later, unless the model is set up anew.
_REFUSALS: Final = Backoff(first_s=3_600.0, longest_s=7 * 86_400.0)


@dataclass(frozen=True, slots=True)
class EmbeddingBudget:
    """How much a run may do."""

    seconds: float
    batch_timeout_s: float
    insists: bool = False  # ask even a model that failed a moment ago


@dataclass(slots=True)
class _Step:
    """What one step brought."""

    vectors: dict[int, bytes] = field(default_factory=dict)  # by chunk
    files: set[int] = field(default_factory=set)  # of these chunks
    dimensions: int = 0
    refused: list[tuple[PendingChunk, str]] = field(default_factory=list)
    trouble: UnavailableError | None = None  # with the model as a whole
    is_last: bool = False


class EmbeddingQueue:
    """Works off the table `pending` of one index. The caller holds the writer's lock."""

    def __init__(
        self,
        folder: Path,
        connection: sqlite3.Connection,
        embedder: QueuedEmbedder,
        *,
        clock: Callable[[], float],
        rng: Rng,
    ) -> None:
        self._folder = folder
        self._connection = connection
        self._embedder = embedder
        self._clock = clock
        self._rng = rng
        self._manifest = Manifest(connection)
        self._documents = DocStore(connection)
        self._pending = PendingEmbeddings(connection)

    def work(self, allowance: EmbeddingBudget) -> int:
        """Embed what is due, step by step, as long as it goes well; returns how many chunks."""
        if not self._is_whole():
            return 0  # a stamp now would hide what somebody who was killed did not write
        now_s = self._clock()
        if allowance.insists:
            with write_transaction(self._connection):
                self._pending.make_due()
        elif self._pending.retry_delay().until_s > now_s:
            return 0
        ends = time.monotonic() + allowance.seconds
        embedded = 0
        while True:
            step = self._step(now_s, ends, allowance.batch_timeout_s)
            self._store(step)
            embedded += len(step.vectors)
            if step.is_last:
                return embedded

    def _is_whole(self) -> bool:
        dimensions = int(self._manifest.value("dimensions") or UNKNOWN_DIMENSIONS)
        generation = self._manifest.generation()
        return measure_lag(self._folder, self._manifest, dimensions).is_current(generation)

    def _step(self, now_s: float, ends: float, timeout_s: float) -> _Step:
        step = _Step(dimensions=int(self._manifest.value("dimensions") or 0))
        step_ends = min(ends, time.monotonic() + _STEP_S)
        size = self._embedder.batch_size
        due = self._pending.due(now_s, max(size, _STEP_CHUNKS // size * size))
        texts = self._texts(due)
        try:
            for start in range(0, len(due), size):
                if time.monotonic() >= step_ends:
                    step.is_last = time.monotonic() >= ends
                    return step
                batch = list(zip(due[start : start + size], texts, strict=False))
                self._embed(batch, step, timeout_s)
        except UnavailableError as error:
            step.trouble = error
        step.is_last = step.trouble is not None or not due
        return step

    def _texts(self, due: Sequence[PendingChunk]) -> Iterator[str]:
        """What is embedded of each chunk, one file after the other."""
        rows = self._documents.chunks([waiting.chunk_id for waiting in due])
        states = self._manifest.files_by_id({waiting.file_id for waiting in due})
        file_id, text = -1, ""
        for waiting in due:
            if waiting.file_id != file_id:
                file_id, text = waiting.file_id, self._documents.text(waiting.file_id)
            row = rows[waiting.chunk_id]
            heading = document_heading(states[file_id].path, states[file_id].title)
            yield embedded_text(heading, text[row.start : row.end])

    def _embed(
        self, batch: Sequence[tuple[PendingChunk, str]], step: _Step, timeout_s: float
    ) -> None:
        """Embed a batch. Raises UnavailableError where the trouble is with the model."""
        found = embed_texts(self._embedder, [text for _, text in batch], timeout_s)
        for at, reason in found.refused.items():
            step.refused.append((batch[at][0], reason))
        for at, vector in found.vectors.items():
            if len(vector) != (step.dimensions or len(vector)):
                raise UnavailableError(
                    f"the model gives vectors of {len(vector)} numbers and the index holds such of "
                    f"{step.dimensions}: it is another model; run `rootle index --rebuild`"
                )
            step.dimensions = len(vector)
            waiting = batch[at][0]
            step.vectors[waiting.chunk_id] = quantize(vector[None, :])[0].tobytes()
            step.files.add(waiting.file_id)

    def _store(self, step: _Step) -> None:
        """Write what a step brought: the truth first, then the matrix that is derived from it."""
        if not (step.vectors or step.refused or step.trouble):
            return
        now_s = self._clock()
        dimensions = step.dimensions or UNKNOWN_DIMENSIONS
        behind = measure_lag(self._folder, self._manifest, dimensions)
        with write_transaction(self._connection):
            self._pending.postpone(
                [
                    (waiting, now_s + _REFUSALS.delay_s(waiting.failures + 1, self._rng), reason)
                    for waiting, reason in step.refused
                ]
            )
            self._pending.set_retry_delay(self._next_pause(step, now_s))
            if not step.vectors:
                return
            generation = self._manifest.increment_generation(words_changed=False)
            self._documents.set_vectors(step.vectors)
            self._manifest.mark_changed(step.files, generation)
            self._manifest.set_value("dimensions", str(dimensions))
            self._pending.remove(step.vectors)
        writer = DerivedWriter(self._folder, dimensions, behind, bulk=False)
        try:
            files = step.files
            if behind.dense_since is None:  # the first vectors say how long a row is
                files = {state.id for state in self._manifest.files()}
            writer.replace_vectors(self._documents.vectors_of(sorted(files)))
            writer.commit(generation)
        except BaseException:
            writer.abandon()
            raise

    def _next_pause(self, step: _Step, now_s: float) -> RetryDelay:
        if step.trouble is None:
            return RetryDelay()
        failures = 1 if step.vectors else self._pending.retry_delay().failures + 1
        pause_s = max(_PAUSES.delay_s(failures, self._rng), step.trouble.retry_after_s)
        _LOG.warning("chunks wait for their embedding: %s", step.trouble)
        return RetryDelay(failures, now_s + pause_s, str(step.trouble))
