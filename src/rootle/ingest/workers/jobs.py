"""What is to be read, and what came of it: as it goes from process to process.

Apart from the reading, whose grammars the process that writes need not load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rootle.text.languages import UNKNOWN


class ChunkRecord(NamedTuple):
    """One chunk: its place, its words by field, and its vector.

    No dataclass: to send thousands of these to another process would take half as long again.
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
    vector: bytes  # int8; empty where none was asked for


@dataclass(frozen=True, slots=True)
class AnalyzedText:
    """All chunks of a file, and the words of the file as a whole."""

    chunks: tuple[ChunkRecord, ...]
    skipped_chars: int
    body_terms: str
    symbol_terms: str
    path_terms: str
    embedded: int
    embedding_ms: float


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
