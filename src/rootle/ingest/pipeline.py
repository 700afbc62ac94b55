"""Bring an index up to date: read, split, embed and write the documents of a plan in batches."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.embed.model_choice import ModelChoice
from rootle.index.local.derived_indexes import DerivedWriter, IndexLag, measure_lag
from rootle.index.local.docstore import DocStore
from rootle.index.local.manifest import BYTES_EXPECTED, ONLY_ADDED_SINCE, Manifest
from rootle.index.local.vector_matrix.writer import UNKNOWN_DIMENSIONS
from rootle.index.reader import FileState
from rootle.index.remote.replica_state import oldest_generation
from rootle.ingest.batches import CommitSchedule, Stages, make_batches
from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.index_writer import IndexWriter, add_words
from rootle.ingest.plan import Plan, token_key
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.ingest.workers.scheduler import read_documents
from rootle.ingest.workers.worker import WorkerSetup
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.protocols import Embedder
from rootle.sources.secret_masking_reader import open_readers
from rootle.sources.source import Source
from rootle.storage.transaction import write_transaction
from rootle.types import IndexReport, ProgressCallback

_LOG = logging.getLogger(__name__)
REBUILDING: Final = "the model, the chunker or a setting of the index changed: rebuilding the index"
REPAIRING: Final = "the index is damaged or cannot be written: rebuilding it"
CONTINUING: Final = "continuing to rebuild the index, which was interrupted"


@dataclass(frozen=True, slots=True)
class IngestSetup:
    """The sources of an index, the location of the index, and how it is built."""

    sources: Sequence[Source]
    index_dir: Path
    limits: ChunkLimits
    model: ModelChoice
    open_embedder: Callable[[], Embedder]
    fingerprint: str  # as in IndexSetup
    prestarted: PrestartedWorkers
    secret_exceptions: tuple[str, ...] = ()  # as in `sources.secret_masking_reader`
    in_stages: Stages = "never"


class Pipeline:
    """One run over the sources of an index. The caller holds the writer lock."""

    def __init__(self, setup: IngestSetup, connection: sqlite3.Connection) -> None:
        self._setup = setup
        self._connection = connection
        self._manifest = Manifest(connection)
        self._documents = DocStore(connection)
        self._writer = IndexWriter(connection)

    def run(self, plan: Plan, progress: ProgressCallback) -> IndexReport:
        """Apply a plan that was made under the writer lock; the index is then complete."""
        started = time.perf_counter()
        lag = self._lag()
        if not self._manifest.value("updated_at"):
            self._note_first_run(plan)
        if not plan.is_empty or not lag.is_current(self._manifest.generation()):
            self._apply(plan, lag, progress)
        truncated = self._writer.truncated
        if truncated:
            _LOG.warning(
                "files that are not indexed to the end, because they exceed a limit or are "
                "damaged: %d (the first: %s); `rootle status --skipped` lists them with the limit",
                len(truncated),
                truncated[0],
            )
        with write_transaction(self._connection):
            self._manifest.set_value("updated_at", repr(time.time()))
            for source, token in plan.tokens.items():
                self._manifest.set_value(token_key(source), token)
        return self._report(plan, time.perf_counter() - started)

    def clear_if_incompatible(self) -> bool:
        """Empty an index that was built with other settings; return whether it was emptied.

        A new database is initialized in the same way, but does not count as emptied.
        """
        stored = self._manifest.value("fingerprint")
        if stored == self._setup.fingerprint:
            return False
        had_content = stored is not None
        with write_transaction(self._connection):
            self._writer.clear(self._setup.fingerprint, self._setup.model)
        if had_content:
            _LOG.warning(REBUILDING)
        return had_content

    def _note_first_run(self, plan: Plan) -> None:
        """Store how many bytes are expected, and whether readers may search before the run ends."""
        expected = self._manifest.bytes_read() + plan.bytes_to_read
        since = self._manifest.value(ONLY_ADDED_SINCE) or str(self._manifest.generation())
        with write_transaction(self._connection):
            self._manifest.set_value(BYTES_EXPECTED, str(expected))
            # An interrupted run may have stored documents that have changed or disappeared since.
            self._manifest.set_value(ONLY_ADDED_SINCE, since if plan.only_adds else "")

    def _lag(self) -> IndexLag:
        return measure_lag(self._setup.index_dir, self._manifest, self._dimensions())

    def _apply(self, plan: Plan, lag: IndexLag, progress: ProgressCallback) -> None:
        missed = self._missed_changes(lag)
        total = plan.bytes_to_read
        jobs = _make_jobs(plan, missed)
        planned = {state.id for state in (*plan.known_states, *plan.remove)}
        derived = self._open_derived(lag)
        is_first_run = not self._manifest.value("updated_at")
        schedule = CommitSchedule(self._setup.in_stages, is_first_run=is_first_run)
        known = {(p.source, p.entry.uri): p.state for p in plan.read if p.state is not None}
        try:
            self._catch_up(derived, {at: s for at, s in missed.items() if at not in planned})
            if plan.remove or plan.skip:
                with write_transaction(self._connection):
                    self._writer.remove_and_skip(plan, derived)
            results = _report_progress(self._run_jobs(jobs, total), total, progress)
            for batch in make_batches(results, schedule.limits):
                with write_transaction(self._connection):
                    self._writer.write_batch(batch, known, derived)
                if schedule.is_due_after(batch):
                    derived.commit(self._manifest.generation())
                    derived = self._open_derived(self._lag())
            with write_transaction(self._connection):
                self._documents.prune_retired()
            generation = self._manifest.generation()
            derived.commit(generation)
        except BaseException:
            derived.abandon()
            raise
        with write_transaction(self._connection):
            self._manifest.prune_removals(oldest_generation(self._manifest, generation))

    def _open_derived(self, lag: IndexLag) -> DerivedWriter:
        return DerivedWriter(self._setup.index_dir, self._dimensions(), lag)

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

    def _missed_changes(self, lag: IndexLag) -> dict[int, FileState | None]:
        """Return the changes that the derived indexes lack.

        Keys are document ids. The value is the state of a document, or None if it was removed.
        """
        if lag.is_current(self._manifest.generation()):
            return {}
        since = min(-1 if g is None else g for g in (lag.sparse_since, lag.dense_since))
        changed, removed = self._manifest.list_changes_since(since)
        missed: dict[int, FileState | None] = dict.fromkeys(removed)
        missed.update((state.id, state) for state in changed)
        return missed

    def _catch_up(self, derived: DerivedWriter, missed: Mapping[int, FileState | None]) -> None:
        """Add to the derived indexes the changes that an interrupted run did not write to them."""
        for file_id in missed:
            derived.remove_file(file_id, missed=True)
        states = [s for s in missed.values() if s is not None and s.skip is None]
        for chunk_id, file_id, vector in self._documents.read_vectors([s.id for s in states]):
            derived.add_vectors(file_id, [chunk_id], [vector], missed=True)
        if not derived.misses_words:
            return
        jobs = [ReadJob(s.path, s.size, s.mtime_ns, s.id, None, s.source, stored=s) for s in states]
        for result in self._run_jobs(jobs, sum(job.size for job in jobs)):
            if result.analyzed is not None:
                ids = [chunk.id for chunk in self._documents.list_chunks(result.job.file_id)]
                add_words(derived, result.job.file_id, ids, result.analyzed, missed=True)

    def _run_jobs(self, jobs: Sequence[ReadJob], total: int) -> Iterator[ReadResult]:
        setup, documents = self._setup, self._documents
        worker = WorkerSetup(
            open_readers(setup.sources, setup.secret_exceptions),
            str(setup.index_dir),
            setup.limits,
            setup.model,
            documents.has_any(),
        )
        return read_documents(jobs, total, worker, documents, setup.open_embedder, setup.prestarted)

    def _report(self, plan: Plan, seconds: float) -> IndexReport:
        counts = self._manifest.skip_counts()
        return IndexReport(
            generation=self._manifest.generation(),
            files_indexed=len(plan.read),
            files_removed=len(plan.remove),
            files_total=counts.get(None, 0),
            chunks_total=self._documents.count(),
            chunks_embedded=self._writer.chunks_embedded,
            bytes_indexed=self._writer.bytes_indexed,
            skipped={reason: count for reason, count in counts.items() if reason is not None},
            seconds=seconds,
        )


def _make_jobs(plan: Plan, missed: Mapping[int, FileState | None]) -> list[ReadJob]:
    jobs = []
    for source, entry, state in plan.read:
        # The derived indexes need a missed document again, even if its content is unchanged.
        digest = state.digest if state and state.id not in missed else None
        file_id = state.id if state else 0
        jobs.append(
            ReadJob(entry.uri, entry.size, entry.mtime_ns, file_id, digest, source, entry.ctime_ns)
        )
    return jobs


def _report_progress(
    results: Iterator[ReadResult], total: int, progress: ProgressCallback
) -> Iterator[ReadResult]:
    done = 0
    for result in results:
        done += result.job.size
        progress(done, total)
        yield result
