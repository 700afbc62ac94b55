"""Brings an index up to date with its folder: read, cut, embed, write, all or nothing a batch."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.embed.model_choice import ModelChoice
from rootle.index.local.dense_index import UNKNOWN_DIMENSIONS
from rootle.index.local.derived_indexes import DerivedWriter, IndexLag, arrears
from rootle.index.local.docstore import DocStore
from rootle.index.local.manifest import BYTES_EXPECTED, ONLY_ADDED_SINCE, Manifest
from rootle.index.local.pending_embeddings import PendingEmbeddings, RetryDelay
from rootle.index.local.sparse_index import ChunkTerms, FileTerms
from rootle.index.reader import FileState
from rootle.index.remote.replica_state import oldest_held
from rootle.ingest.chunking.limits import ChunkLimits
from rootle.ingest.plan import Plan
from rootle.ingest.workers.jobs import AnalyzedText, ReadJob, ReadResult
from rootle.ingest.workers.scheduler import read_files
from rootle.ingest.workers.worker import WorkerSetup
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.protocols import Embedder
from rootle.storage.transaction import write_transaction
from rootle.telemetry.spans import record_indexed_file
from rootle.text.languages import UNKNOWN
from rootle.types import IndexReport, ProgressCallback

_LOG = logging.getLogger(__name__)

# Written while the next ones are read; a crash costs at most one of them.
_BATCH_CHARS: Final = 2_000_000
_BULK_BYTES: Final = 20_000_000
# Where early answers are wanted an index that is made for the first time can be searched after so
# much text, and again each time that it has grown by the factor. That costs next to no time, but
# each stage leaves a replaced stamp in the word indexes, which moves scores as an update does.
_FIRST_STAGE_CHARS: Final = 2_000_000
_STAGE_FACTOR: Final = 4


@dataclass(frozen=True, slots=True)
class IngestSetup:
    """Where an index is and how it is made."""

    root: Path
    folder: Path  # of the index
    limits: ChunkLimits
    model: ModelChoice
    open_embedder: Callable[[], Embedder]
    fingerprint: str  # of everything that the content of the index depends on
    early: PrestartedWorkers
    in_stages: bool = False  # a first run can be searched before it ends


class Pipeline:
    """One run over one folder. The caller holds the writer's lock."""

    def __init__(self, setup: IngestSetup, connection: sqlite3.Connection) -> None:
        self._setup = setup
        self._connection = connection
        self._manifest = Manifest(connection)
        self._documents = DocStore(connection)
        self._pending = PendingEmbeddings(connection)
        self._clock_ns = time.time_ns()
        self._embedded = 0
        self._cut_short: list[str] = []
        self._bytes = 0

    def run(self, plan: Plan, progress: ProgressCallback) -> IndexReport:
        """Apply a plan made under the lock; the index is whole again when this returns."""
        started = time.perf_counter()
        behind = self._arrears()
        if not self._manifest.value("updated_at"):
            self._announce_first_run(plan)
        if not plan.is_empty or not behind.is_current(self._manifest.generation()):
            self._apply(plan, behind, progress)
        if self._cut_short:
            _LOG.warning(
                "files longer than maxChunksPerFile allows, whose ends are not indexed: %d "
                "(the first: %s); `rootle status` tells the share",
                len(self._cut_short),
                self._cut_short[0],
            )
        with write_transaction(self._connection):
            self._manifest.set_value("updated_at", repr(time.time()))
        return self._report(plan, time.perf_counter() - started)

    def start_over_if_foreign(self) -> bool:
        """Empty an index whose chunks or vectors were made in another way; says whether it did."""
        if self._manifest.value("fingerprint") == self._setup.fingerprint:
            return False
        had_content = self._manifest.generation() > 0
        with write_transaction(self._connection):
            for table in ("files", "texts", "chunks", "pending", "removed", "retired"):
                self._connection.execute(f"DELETE FROM {table}")
            generation = self._manifest.raise_generation()
            self._manifest.set_value("floor", str(generation))
            self._manifest.set_value("fingerprint", self._setup.fingerprint)
            self._manifest.set_value("model", self._setup.model.model)
            self._manifest.set_value("embedding", self._setup.model.fingerprint)
            self._pending.set_pause(RetryDelay())
            self._manifest.set_value("head", "")
            # Until a run ends well it is not known to hold every file.
            self._connection.execute(
                "DELETE FROM meta WHERE name IN ('dimensions', 'updated_at', ?)",
                (ONLY_ADDED_SINCE,),
            )
        if had_content:
            _LOG.warning("the model or the chunker changed: indexing again from the start")
        return had_content

    def _announce_first_run(self, plan: Plan) -> None:
        """Tell readers how much there will be, and whether they may look at it before the end."""
        expected = self._manifest.bytes_read() + sum(entry.size for entry, _ in plan.read)
        since = self._manifest.value(ONLY_ADDED_SINCE) or str(self._manifest.generation())
        with write_transaction(self._connection):
            self._manifest.set_value(BYTES_EXPECTED, str(expected))
            # A run that was cut short may have left what is different or gone by now.
            self._manifest.set_value(ONLY_ADDED_SINCE, since if plan.only_adds else "")

    def _arrears(self) -> IndexLag:
        return arrears(self._setup.folder, self._manifest, self._dimensions())

    def _apply(self, plan: Plan, behind: IndexLag, progress: ProgressCallback) -> None:
        total = sum(entry.size for entry, _ in plan.read)
        missed = self._missed(behind)
        jobs = [
            ReadJob(
                entry.path,
                entry.size,
                entry.mtime_ns,
                state.id if state else 0,
                # What the derived indexes missed must go in, as it is now, even if it is as before.
                state.digest if state and state.id not in missed else None,
            )
            for entry, state in plan.read
        ]
        touched = {state.id for _, state in (*plan.read, *plan.skip) if state}
        touched |= {state.id for state in plan.remove}
        known = {entry.path: state for entry, state in plan.read if state}
        bulk = total > _BULK_BYTES or behind.sparse_since is None
        dimensions = self._dimensions()
        writer = DerivedWriter(self._setup.folder, dimensions, behind, bulk=bulk)
        in_stages = self._setup.in_stages and not self._manifest.value("updated_at")
        stage, chars = _FIRST_STAGE_CHARS, 0
        try:
            self._catch_up(writer, {at: s for at, s in missed.items() if at not in touched})
            self._leave_out(plan, writer)
            for batch in _batched(_watched(self._results(jobs, total), total, progress)):
                with write_transaction(self._connection):
                    self._write_batch(batch, known, writer)
                chars += sum(result.chars for result in batch)
                if in_stages and chars >= stage:
                    stage *= _STAGE_FACTOR
                    writer.commit(self._manifest.generation())
                    writer = DerivedWriter(
                        self._setup.folder, dimensions, self._arrears(), bulk=bulk
                    )
            with write_transaction(self._connection):
                self._documents.prune_retired()
            generation = self._manifest.generation()
            writer.commit(generation)
        except BaseException:
            writer.abandon()
            raise
        with write_transaction(self._connection):
            self._manifest.forget_removed(oldest_held(self._manifest, generation))

    def _dimensions(self) -> int:
        known = self._manifest.value("dimensions")
        if known is not None:
            return int(known)
        if not self._setup.model.is_table:
            return UNKNOWN_DIMENSIONS
        dimensions = self._setup.open_embedder().dimensions
        with write_transaction(self._connection):
            self._manifest.set_value("dimensions", str(dimensions))
        return dimensions

    def _missed(self, behind: IndexLag) -> dict[int, FileState | None]:
        """Files that changed since the derived indexes were last whole; None for those removed."""
        if behind.is_current(self._manifest.generation()):
            return {}
        since = min(-1 if g is None else g for g in (behind.sparse_since, behind.dense_since))
        changed, removed = self._manifest.changed_since(since)
        missed: dict[int, FileState | None] = dict.fromkeys(removed)
        missed.update((state.id, state) for state in changed)
        return missed

    def _catch_up(self, writer: DerivedWriter, missed: Mapping[int, FileState | None]) -> None:
        """Give the derived indexes what a run that was cut short could not tell them."""
        for file_id in missed:
            writer.forget(file_id, missed=True)
        states = [s for s in missed.values() if s is not None and s.skip is None]
        jobs = [ReadJob(s.path, s.size, s.mtime_ns, s.id, None, stored=True) for s in states]
        for chunk_id, file_id, vector in self._documents.vectors_of([s.id for s in states]):
            writer.add_vectors(file_id, [chunk_id], [vector], missed=True)
        if not writer.misses_words:
            return
        for result in self._results(jobs, sum(job.size for job in jobs)):
            if result.analyzed is not None:
                ids = [chunk.id for chunk in self._documents.chunks_of(result.job.file_id)]
                _add_words(writer, result.job.file_id, ids, result.analyzed, missed=True)

    def _results(self, jobs: Sequence[ReadJob], total: int) -> Iterator[ReadResult]:
        setup, documents = self._setup, self._documents
        worker = WorkerSetup(
            str(setup.root), str(setup.folder), setup.limits, setup.model, documents.has_any()
        )
        return read_files(jobs, total, worker, documents, setup.open_embedder, setup.early)

    def _leave_out(self, plan: Plan, writer: DerivedWriter) -> None:
        """Files that are gone, and files that are no longer to be read."""
        if not (plan.remove or plan.skip):
            return
        with write_transaction(self._connection):
            generation = self._manifest.raise_generation()
            for state in plan.remove:
                self._documents.remove(state.id, generation)
                self._manifest.remove(state.id, generation)
                writer.forget(state.id)
            for skip, known in plan.skip:
                if known is not None:
                    self._documents.remove(known.id, generation)
                    writer.forget(known.id)
                self._manifest.put(
                    FileState(
                        id=known.id if known else 0,
                        path=skip.path,
                        size=skip.size,
                        mtime_ns=0,
                        seen_ns=self._clock_ns,
                        digest=None,
                        skip=skip.reason,
                        language=UNKNOWN,
                        encoding="",
                        chars=0,
                        skipped_chars=0,
                        committed_s=None,
                        is_dirty=True,
                        generation=generation,
                    )
                )

    def _write_batch(
        self,
        batch: Sequence[ReadResult],
        known: dict[str, FileState],
        writer: DerivedWriter,
    ) -> None:
        generation = self._manifest.generation()
        if not all(result.unchanged for result in batch):
            generation = self._manifest.raise_generation()
        for result in batch:
            state = known.get(result.job.path)
            if result.unchanged and state is not None:
                self._manifest.touch(state.id, result.job.size, result.job.mtime_ns, self._clock_ns)
            else:
                self._write_file(result, state, generation, writer)

    def _write_file(
        self,
        result: ReadResult,
        state: FileState | None,
        generation: int,
        writer: DerivedWriter,
    ) -> None:
        started = time.perf_counter()
        analyzed = result.analyzed
        file_id = self._manifest.put(
            FileState(
                id=state.id if state else 0,
                path=result.job.path,
                size=result.job.size,
                mtime_ns=result.job.mtime_ns,
                seen_ns=self._clock_ns,
                digest=result.digest or b"",
                skip=result.skip,
                language=result.language,
                encoding=result.encoding,
                chars=result.chars,
                skipped_chars=analyzed.skipped_chars if analyzed else 0,
                committed_s=state.committed_s if state else None,
                author=state.author if state else "",
                is_dirty=True,
                generation=generation,
            )
        )
        if state is not None:
            writer.forget(file_id)
        if analyzed is None:
            self._documents.remove(file_id, generation)
            return
        chunks = analyzed.chunks
        ids = self._documents.replace(
            file_id, result.packed_text, chunks, generation, is_new=state is None
        )
        _add_words(writer, file_id, ids, analyzed)
        writer.add_vectors(file_id, ids, [chunk.vector for chunk in chunks])
        waiting = [at for at, chunk in zip(ids, chunks, strict=True) if not chunk.vector]
        self._pending.add(file_id, waiting, self._clock_ns / 1e9)
        if analyzed.skipped_chars:
            self._cut_short.append(result.job.path)
        self._embedded += analyzed.embedded
        self._bytes += result.job.size
        record_indexed_file(
            result.job.path,
            len(chunks),
            embedding_ms=analyzed.embedding_ms,
            index_ms=(time.perf_counter() - started) * 1000,
        )

    def _report(self, plan: Plan, seconds: float) -> IndexReport:
        counts = self._manifest.skip_counts()
        return IndexReport(
            generation=self._manifest.generation(),
            files_indexed=len(plan.read),
            files_removed=len(plan.remove),
            files_total=counts.get(None, 0),
            chunks_total=self._documents.count(),
            chunks_embedded=self._embedded,
            bytes_indexed=self._bytes,
            skipped={reason: count for reason, count in counts.items() if reason is not None},
            seconds=seconds,
        )


def _watched(
    results: Iterator[ReadResult], total: int, progress: ProgressCallback
) -> Iterator[ReadResult]:
    done = 0
    for result in results:
        done += result.job.size
        progress(done, total)
        yield result


def _batched(results: Iterator[ReadResult]) -> Iterator[list[ReadResult]]:
    batch: list[ReadResult] = []
    size = 0
    for result in results:
        batch.append(result)
        size += result.chars
        if size >= _BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _add_words(
    writer: DerivedWriter,
    file_id: int,
    chunk_ids: Sequence[int],
    analyzed: AnalyzedText,
    *,
    missed: bool = False,
) -> None:
    writer.add_words(
        FileTerms(file_id, analyzed.body_terms, analyzed.symbol_terms, analyzed.path_terms),
        (
            ChunkTerms(
                chunk_id,
                chunk.body_terms,
                chunk.symbol_terms,
                chunk.defines,
                chunk.heading_terms,
                chunk.comment_terms,
            )
            for chunk_id, chunk in zip(chunk_ids, analyzed.chunks, strict=True)
        ),
        missed=missed,
    )
