"""Read, split and embed one document, in whichever process runs the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rootle.index.local.docstore import DocStore, compress_text
from rootle.index.reader import FileState
from rootle.ingest.index_records import Analyzer, KnownVectors
from rootle.ingest.workers.jobs import DocumentFacts, ReadJob, ReadResult
from rootle.sources.source import DocumentReader
from rootle.text.languages import UNKNOWN, file_language


def run_job(
    job: ReadJob,
    readers: Mapping[str, DocumentReader],
    analyzer: Analyzer,
    documents: DocStore | None,
) -> ReadResult:
    """Return the result of a job. If the document cannot be read, `skip` contains the reason.

    `readers` maps the name of each source to its reader. Vectors stored in `documents` are reused.
    """
    if job.stored is not None and documents is not None:
        return _split_stored(job, job.stored, analyzer, documents)
    found = readers[job.source].read(job.uri)
    if isinstance(found, str):
        return ReadResult(job, skip=found, facts=DocumentFacts(file_language(job.uri)))
    if job.digest is not None and found.digest == job.digest:
        return ReadResult(job, digest=found.digest, unchanged=True)
    analyzed = analyzer.analyze(
        found.uri,
        found.text,
        UNKNOWN if job.plain else found.language,
        _make_vector_lookup(job, documents),
        title=found.title,
        sections=found.sections,
    )
    return ReadResult(
        job,
        digest=found.digest,
        analyzed=analyzed,
        facts=DocumentFacts.from_document(found),
        compressed_text=compress_text(found.text),
    )


def _split_stored(
    job: ReadJob, stored: FileState, analyzer: Analyzer, documents: DocStore
) -> ReadResult:
    analyzed = analyzer.analyze(
        job.uri,
        documents.text(stored.id),
        UNKNOWN if job.plain else stored.language,
        title=stored.title,
        sections=documents.read_sections(stored.id),
        embed=False,
    )
    return ReadResult(job, analyzed=analyzed)


def _make_vector_lookup(job: ReadJob, documents: DocStore | None) -> KnownVectors | None:
    if documents is None:
        return None

    def find(keys: Sequence[int]) -> Mapping[int, bytes]:
        return documents.known_vectors(job.file_id, keys)

    return find
