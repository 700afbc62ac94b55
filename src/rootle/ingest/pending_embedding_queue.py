"""Embed the chunks that were indexed without a vector, and postpone those that fail."""

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
from rootle.index.local.derived_indexes import DerivedWriter, measure_lag
from rootle.index.local.docstore import DocStore
from rootle.index.local.manifest import Manifest
from rootle.index.local.pending_embeddings import PendingChunk, PendingEmbeddings, RetryDelay
from rootle.index.local.vector_matrix.writer import UNKNOWN_DIMENSIONS
from rootle.ingest.index_records import document_heading, embedded_text
from rootle.ingest.rejected_texts import embed_texts
from rootle.protocols import QueuedEmbedder
from rootle.storage.quantization import quantize
from rootle.storage.transaction import write_transaction

_LOG = logging.getLogger(__name__)

# The number of chunks in a step. A crash loses at most one step. Each step ends with a commit of
# all indexes, which takes 0.1 s.
_STEP_CHUNKS: Final = 512
_STEP_S: Final = 5.0
# The delays between attempts with a model that is down.
_MODEL_BACKOFF: Final = Backoff(first_s=30.0, longest_s=3_600.0)
# The delays for a text that the model rejects. Such a text can be embedded only after the model has
# changed.
_TEXT_BACKOFF: Final = Backoff(first_s=3_600.0, longest_s=7 * 86_400.0)


@dataclass(frozen=True, slots=True)
class EmbeddingBudget:
    """The time limits of a run."""

    seconds: float
    batch_timeout_s: float
    ignores_backoff: bool = False  # whether to call the model even if it failed recently


@dataclass(slots=True)
class _Step:
    """The results of one step."""

    vectors: dict[int, bytes] = field(default_factory=dict)  # keyed by chunk id
    files: set[int] = field(default_factory=set)  # the files of these chunks
    dimensions: int = 0
    refused: list[tuple[PendingChunk, str]] = field(default_factory=list)  # each with the reason
    failure: UnavailableError | None = None  # the error, if the model failed
    is_last: bool = False


class EmbeddingQueue:
    """Embeds the chunks in the table `pending` of an index. The caller holds the writer lock."""

    def __init__(
        self,
        index_dir: Path,
        connection: sqlite3.Connection,
        embedder: QueuedEmbedder,
        *,
        clock: Callable[[], float],
        rng: Rng,
    ) -> None:
        self._index_dir = index_dir
        self._connection = connection
        self._embedder = embedder
        self._clock = clock
        self._rng = rng
        self._manifest = Manifest(connection)
        self._documents = DocStore(connection)
        self._pending = PendingEmbeddings(connection)

    def embed_due(self, budget: EmbeddingBudget) -> int:
        """Embed due chunks until none is left, the model fails or the time is used up.

        Return the number of embedded chunks. A chunk is due if it has not failed, or if its retry
        delay has passed.
        """
        if not self._is_current():
            # A commit would mark the derived indexes as current, although they lack documents.
            return 0
        now_s = self._clock()
        if budget.ignores_backoff:
            with write_transaction(self._connection):
                self._pending.make_due()
        elif self._pending.retry_delay().until_s > now_s:
            return 0
        ends = time.monotonic() + budget.seconds
        embedded = 0
        while True:
            step = self._run_step(now_s, ends, budget.batch_timeout_s)
            self._store(step)
            embedded += len(step.vectors)
            if step.is_last:
                return embedded

    def _is_current(self) -> bool:
        dimensions = int(self._manifest.value("dimensions") or UNKNOWN_DIMENSIONS)
        generation = self._manifest.generation()
        return measure_lag(self._index_dir, self._manifest, dimensions).is_current(generation)

    def _run_step(self, now_s: float, ends: float, timeout_s: float) -> _Step:
        step = _Step(dimensions=int(self._manifest.value("dimensions") or 0))
        step_ends = min(ends, time.monotonic() + _STEP_S)
        size = self._embedder.batch_size
        due = self._pending.due(now_s, max(size, _STEP_CHUNKS // size * size))
        texts = self._read_texts(due)
        try:
            for start in range(0, len(due), size):
                if time.monotonic() >= step_ends:
                    step.is_last = time.monotonic() >= ends
                    return step
                batch = list(zip(due[start : start + size], texts, strict=False))
                self._embed(batch, step, timeout_s)
        except UnavailableError as error:
            step.failure = error
        step.is_last = step.failure is not None or not due
        return step

    def _read_texts(self, due: Sequence[PendingChunk]) -> Iterator[str]:
        """Return the text to embed for each chunk. Chunks of a document must be consecutive."""
        rows = self._documents.chunks([chunk.chunk_id for chunk in due])
        states = self._manifest.files_by_id({chunk.file_id for chunk in due})
        file_id, text = -1, ""
        for chunk in due:
            if chunk.file_id != file_id:
                file_id, text = chunk.file_id, self._documents.text(chunk.file_id)
            row = rows[chunk.chunk_id]
            heading = document_heading(states[file_id].path, states[file_id].title)
            yield embedded_text(heading, text[row.start : row.end])

    def _embed(
        self, batch: Sequence[tuple[PendingChunk, str]], step: _Step, timeout_s: float
    ) -> None:
        """Embed a batch. Raise UnavailableError if the model fails."""
        found = embed_texts(self._embedder, [text for _, text in batch], timeout_s)
        for at, reason in found.refused.items():
            step.refused.append((batch[at][0], reason))
        for at, vector in found.vectors.items():
            if len(vector) != (step.dimensions or len(vector)):
                raise UnavailableError(
                    f"the model returns vectors with {len(vector)} dimensions, but the index has "
                    f"{step.dimensions}: the model has changed; run `rootle index --rebuild`"
                )
            step.dimensions = len(vector)
            chunk = batch[at][0]
            step.vectors[chunk.chunk_id] = quantize(vector[None, :])[0].tobytes()
            step.files.add(chunk.file_id)

    def _store(self, step: _Step) -> None:
        """Write the results of a step: first to the database, then to the derived indexes."""
        if not (step.vectors or step.refused or step.failure):
            return
        now_s = self._clock()
        dimensions = step.dimensions or UNKNOWN_DIMENSIONS
        lag = measure_lag(self._index_dir, self._manifest, dimensions)
        with write_transaction(self._connection):
            self._pending.postpone(
                [
                    (chunk, now_s + _TEXT_BACKOFF.delay_s(chunk.failures + 1, self._rng), reason)
                    for chunk, reason in step.refused
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
        derived = DerivedWriter(self._index_dir, dimensions, lag)
        try:
            files = step.files
            if lag.dense_since is None:  # the first vectors determine the dimensions
                files = {state.id for state in self._manifest.files()}
            derived.replace_vectors(self._documents.read_vectors(sorted(files)))
            derived.commit(generation)
        except BaseException:
            derived.abandon()
            raise

    def _next_pause(self, step: _Step, now_s: float) -> RetryDelay:
        if step.failure is None:
            return RetryDelay()
        failures = 1 if step.vectors else self._pending.retry_delay().failures + 1
        pause_s = max(_MODEL_BACKOFF.delay_s(failures, self._rng), step.failure.retry_after_s)
        _LOG.warning("chunks are waiting to be embedded: %s", step.failure)
        return RetryDelay(failures, now_s + pause_s, str(step.failure))
