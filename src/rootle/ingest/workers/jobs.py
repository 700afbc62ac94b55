"""The jobs of worker processes and their results, as they are sent between processes.

This module is separate from `job_runner`, so that the writing process does not load the grammars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rootle.index.reader import FileState
from rootle.sources.source import Document
from rootle.text.languages import UNKNOWN
from rootle.types import FILES, DocumentSection


class ChunkRecord(NamedTuple):
    """One chunk: its position, the terms of each field, and its vector.

    This is a named tuple, because pickling thousands of dataclasses takes 50% longer.
    """

    start_line: int
    end_line: int
    start: int
    end: int
    symbols: tuple[str, ...]
    scope: str
    body_terms: str
    symbol_terms: str
    defines: str
    heading_terms: str
    comment_terms: str
    key: int
    vector: bytes  # int8 values; b"" while the embedding is pending


@dataclass(frozen=True, slots=True)
class AnalyzedText:
    """All chunks of a document, and the terms of its path and title."""

    chunks: tuple[ChunkRecord, ...]
    skipped_chars: int
    place_terms: str  # added to the body of each chunk
    path_terms: str
    embedded: int  # the number of chunks whose vector was computed
    embedding_ms: float


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A document to read, or a stored text to split again."""

    uri: str
    size: int
    mtime_ns: int
    file_id: int  # 0 for a new document
    digest: bytes | None  # the digest of the indexed content
    source: str = FILES
    ctime_ns: int = 0
    stored: FileState | None = None  # if set, split the stored text again and do not embed it
    plain: bool = False  # do not use a grammar, because a grammar crashed on this document


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """The metadata of a document that the index stores besides its text."""

    language: str = UNKNOWN
    encoding: str = ""
    chars: int = 0
    kind: str = "file"
    title: str = ""
    author: str = ""
    date_s: float | None = None
    sections: Sequence[DocumentSection] = ()
    omitted_chars: int = 0  # how many of `chars` the source left out
    masked: int = 0

    @classmethod
    def from_document(cls, document: Document) -> DocumentFacts:
        return cls(
            document.language,
            document.encoding,
            len(document.text) + document.omitted_chars,
            document.kind,
            document.title,
            document.author,
            document.date_s,
            document.sections,
            document.omitted_chars,
            document.masked,
        )


_NO_FACTS: Final = DocumentFacts()


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The outcome of a job: exactly one of `skip`, `unchanged` and `analyzed` is set."""

    job: ReadJob
    digest: bytes | None = None
    skip: str | None = None
    unchanged: bool = False
    analyzed: AnalyzedText | None = None
    facts: DocumentFacts = _NO_FACTS
    compressed_text: Sequence[bytes] = ()
