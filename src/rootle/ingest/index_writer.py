"""Write the documents of one run to the database and to the derived indexes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence

from rootle.embed.model_choice import ModelChoice
from rootle.index.local.derived_indexes import DerivedWriter
from rootle.index.local.docstore import DocStore
from rootle.index.local.inverted_index.writer import ChunkTerms, FileTerms
from rootle.index.local.manifest import DATES_DUE, ONLY_ADDED_SINCE, Manifest
from rootle.index.local.pending_embeddings import PendingEmbeddings, RetryDelay
from rootle.index.reader import FileState
from rootle.ingest.plan import TOKEN_PREFIX, Plan, PlannedSkip
from rootle.ingest.workers.jobs import AnalyzedText, ReadResult
from rootle.telemetry.spans import record_indexed_file
from rootle.text.languages import UNKNOWN
from rootle.types import FILES

States = Mapping[tuple[str, str], FileState]  # keyed by source and URI


class IndexWriter:
    """Writes documents and counts them. The caller opens the transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._manifest = Manifest(connection)
        self._documents = DocStore(connection)
        self._pending = PendingEmbeddings(connection)
        self._clock_ns = time.time_ns()
        self.chunks_embedded = 0
        self.bytes_indexed = 0
        self.truncated: list[str] = []  # URIs of documents whose ends are not indexed

    def clear(self, fingerprint: str, model: ModelChoice) -> None:
        """Delete all documents, and store how new ones will be split and embedded."""
        for table in ("files", "texts", "sections", "chunks", "pending", "removed", "retired"):
            self._connection.execute(f"DELETE FROM {table}")
        generation = self._manifest.increment_generation()
        self._manifest.set_value("floor", str(generation))
        self._manifest.set_value("fingerprint", fingerprint)
        self._manifest.set_value("model", model.model)
        self._manifest.set_value("embedding", model.fingerprint)
        self._pending.set_retry_delay(RetryDelay())
        self._manifest.set_value("head", "")
        # Until a run succeeds, the index may lack documents.
        self._connection.execute(
            "DELETE FROM meta WHERE name IN ('dimensions', 'updated_at', ?) OR name GLOB ?",
            (ONLY_ADDED_SINCE, f"{TOKEN_PREFIX}*"),
        )

    def remove_and_skip(self, plan: Plan, derived: DerivedWriter) -> None:
        """Remove the documents that a plan removes or skips."""
        generation = self._manifest.increment_generation()
        for state in plan.remove:
            self._documents.remove(state.id, generation)
            self._manifest.remove(state.id, generation)
            derived.remove_file(state.id)
        for planned in plan.skip:
            if planned.state is not None:
                self._documents.remove(planned.state.id, generation)
                derived.remove_file(planned.state.id)
            self._manifest.put(self._skipped_state(planned, generation))

    def write_batch(
        self, batch: Sequence[ReadResult], known: States, derived: DerivedWriter
    ) -> None:
        """Write the results of several jobs; `known` are the states of documents in the index."""
        generation = self._manifest.generation()
        if not all(result.unchanged for result in batch):
            generation = self._manifest.increment_generation()
            self._manifest.set_value(DATES_DUE, "1")
        for result in batch:
            job = result.job
            state = known.get((job.source, job.uri))
            if result.unchanged and state is not None:
                self._manifest.touch(
                    state.id,
                    size=job.size,
                    mtime_ns=job.mtime_ns,
                    ctime_ns=job.ctime_ns,
                    seen_ns=self._clock_ns,
                )
            else:
                self._write(result, state, generation, derived)

    def _write(
        self, result: ReadResult, state: FileState | None, generation: int, derived: DerivedWriter
    ) -> None:
        started = time.perf_counter()
        indexed = self._indexed_state(result, state, generation)
        file_id = self._manifest.put(indexed)
        if state is not None:
            derived.remove_file(file_id)
        analyzed = result.analyzed
        if analyzed is None:
            self._documents.remove(file_id, generation)
            return
        chunks = analyzed.chunks
        ids = self._documents.replace(
            file_id, result.compressed_text, chunks, generation, is_new=state is None
        )
        if result.facts.sections:
            self._documents.set_sections(file_id, result.facts.sections, indexed.committed_s)
        add_words(derived, file_id, ids, analyzed)
        derived.add_vectors(file_id, ids, [chunk.vector for chunk in chunks])
        pending = [at for at, chunk in zip(ids, chunks, strict=True) if not chunk.vector]
        self._pending.add(file_id, pending, self._clock_ns / 1e9)
        if analyzed.skipped_chars + result.facts.omitted_chars:
            self.truncated.append(result.job.uri)
        self.chunks_embedded += analyzed.embedded
        self.bytes_indexed += result.job.size
        record_indexed_file(
            result.job.uri,
            len(chunks),
            embedding_ms=analyzed.embedding_ms,
            index_ms=(time.perf_counter() - started) * 1000,
        )

    def _indexed_state(
        self, result: ReadResult, state: FileState | None, generation: int
    ) -> FileState:
        job, facts, analyzed = result.job, result.facts, result.analyzed
        date_s = None if facts.date_s is None else int(facts.date_s)
        return FileState(
            id=state.id if state else 0,
            path=job.uri,
            size=job.size,
            mtime_ns=job.mtime_ns,
            seen_ns=self._clock_ns,
            digest=result.digest or b"",
            skip=result.skip,
            language=facts.language,
            encoding=facts.encoding,
            chars=facts.chars,
            skipped_chars=analyzed.skipped_chars + facts.omitted_chars if analyzed else 0,
            # The date and author of a file come from its last commit, which is read later. Until
            # then, they are unknown, because the modification time may be the time of the clone.
            committed_s=None if job.source == FILES else date_s,
            is_dirty=job.source != FILES and date_s is None,
            generation=generation,
            author=facts.author,
            source=job.source,
            kind=facts.kind,
            title=facts.title,
            ctime_ns=job.ctime_ns,
            masked=facts.masked,
        )

    def _skipped_state(self, planned: PlannedSkip, generation: int) -> FileState:
        return FileState(
            id=planned.state.id if planned.state else 0,
            path=planned.skip.uri,
            size=planned.skip.size,
            mtime_ns=0,
            seen_ns=self._clock_ns,
            digest=None,
            skip=planned.skip.reason,
            language=UNKNOWN,
            encoding="",
            chars=0,
            skipped_chars=0,
            committed_s=None,
            is_dirty=True,
            generation=generation,
            source=planned.source,
        )


def add_words(
    derived: DerivedWriter,
    file_id: int,
    chunk_ids: Sequence[int],
    analyzed: AnalyzedText,
    *,
    missed: bool = False,
) -> None:
    """Add the terms of a document to the word index; for `missed`, see DerivedWriter."""
    derived.add_words(
        FileTerms(file_id, analyzed.place_terms, analyzed.path_terms),
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
