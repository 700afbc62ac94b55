"""The work that is done for one file, in whichever process it is done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from rootle.index.local.docstore import DocStore, pack_text
from rootle.ingest.analyze import Analyzer, KnownVectors
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.sources.files.text_reader import read_text
from rootle.text.languages import UNKNOWN, language_of


def do_job(job: ReadJob, root: Path, analyzer: Analyzer, documents: DocStore | None) -> ReadResult:
    """Read, cut and embed one file; trouble with the file becomes the reason to skip it.

    With `documents` vectors that the index holds are taken from there.
    """
    language = language_of(job.path)
    cut_as = UNKNOWN if job.plain else language
    if job.stored and documents is not None:
        text = documents.text(job.file_id)
        analyzed = analyzer.analyze(job.path, text, cut_as, embed=False)
        return ReadResult(job, analyzed=analyzed, language=language)
    found = read_text(Path(os.path.join(root, job.path)), job.path, analyzer.readers)
    if isinstance(found, str):
        return ReadResult(job, skip=found, language=language)
    if job.digest is not None and found.digest == job.digest:
        return ReadResult(job, digest=found.digest, unchanged=True)
    return ReadResult(
        job,
        digest=found.digest,
        analyzed=analyzer.analyze(job.path, found.text, cut_as, _known(job, documents)),
        language=language,
        encoding=found.encoding,
        chars=len(found.text),
        packed_text=pack_text(found.text),
    )


def _known(job: ReadJob, documents: DocStore | None) -> KnownVectors | None:
    if documents is None:
        return None

    def known(keys: Sequence[int]) -> Mapping[int, bytes]:
        return documents.known_vectors(job.file_id, keys)

    return known
