"""The work that is done for one file, in whichever process it is done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rootle.index.docstore import DocStore, pack_text
from rootle.ingest.analyze import AnalyzedText, Analyzer, KnownVectors
from rootle.ingest.text_reader import read_text
from rootle.languages import UNKNOWN, language_of


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A file to be read, or a text that is known already to be cut again."""

    path: str  # relative to the root
    size: int
    mtime_ns: int
    file_id: int  # 0 for a new file
    digest: bytes | None  # of the content that the index holds
    stored: bool = False  # cut the text that the index holds again, without embedding it
    plain: bool = False  # keep the grammars out: they brought a process down on this file


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What came of a job. Exactly one of `skip`, `unchanged` and `analyzed` says so."""

    job: ReadJob
    digest: bytes | None = None
    skip: str | None = None
    unchanged: bool = False
    analyzed: AnalyzedText | None = None
    language: str = UNKNOWN
    encoding: str = ""
    chars: int = 0
    packed_text: Sequence[bytes] = ()


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
