"""The records that cross rootle's borders, and their JSON names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

ProgressCallback = Callable[[int, int], None]  # receives bytes done and bytes in total
WarningCallback = Callable[[str], None]  # receives a message about a delay or a degradation

Source = Literal["dense", "sparse", "merged"]
Health = Literal["fresh", "behind", "paused", "throttled", "failed", "gone"]

FILES: Final = "files"  # the name of the source that lists the files of the folder
EXTRACTED: Final = "document"  # in place of an encoding: the text was extracted by a reader


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """What is known of a file beside its text."""

    last_modified: str  # ISO 8601, UTC
    language: str
    file_size_bytes: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A contiguous run of lines: what is embedded, indexed and returned."""

    file_path: str  # relative to the root of the index, "/" on every platform
    sequence_number: int  # position among the chunks of its file, from 0
    start_line: int  # from 1, inclusive
    end_line: int
    text: str
    metadata: FileMetadata
    embedding: tuple[float, ...] | None = None

    @property
    def chunk_id(self) -> str:
        return f"{self.file_path}::{self.sequence_number}"


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """Lines of an extracted text that are cited by a label: a page, a slide, a cell, a message."""

    label: str  # unique in its document: "slide-2", cited as "deck.pptx#slide-2"
    start_line: int  # from 1, inclusive
    end_line: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question and what may answer it. Lists that are None restrict nothing."""

    text_query: str
    file_paths: tuple[str, ...] | None = None  # files, folders or globs, relative to the root
    languages: tuple[str, ...] | None = None
    min_recency_days: float | None = None  # only files modified within so many days
    limit: int | None = None  # results a page; the configuration's default where None
    cursor: str | None = None  # of an earlier response to the same question
    context: bool = False  # widen each result to its surroundings
    budget: int | None = None  # tokens that the contexts of all results together may have
    exclude: tuple[str, ...] = ()  # "path:start-end": lines to leave out of the contexts


@dataclass(frozen=True, slots=True)
class Filters:
    """What may answer a question, for `search(query, filters)`. None restricts nothing."""

    file_paths: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    min_recency_days: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file that answer."""

    start_line: int
    end_line: int
    snippet: str
    scope: str  # the function, class or heading that the lines stand in
    place: str | None = None  # the label of their section, for documents that have sections


@dataclass(frozen=True, slots=True)
class Context:
    """A result with what stands around it, as the file is now."""

    passages: tuple[Span, ...]  # in the order of their lines, none of which stands in two
    changed: bool  # the file changed since it was indexed


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One file that answers: its best span first, up to three further ones after it."""

    file_path: str
    start_line: int
    end_line: int
    snippet: str
    score: float  # 0 to 1
    source: Source  # the leg that found the first span
    metadata: FileMetadata
    scope: str = ""
    more_spans: tuple[Span, ...] = ()
    duplicates: tuple[str, ...] = ()  # paths of files with the same content, which are not shown
    context: Context | None = None  # when it was asked for
    explanation: Mapping[str, float] | None = None  # what each feature gave, when asked for
    place: str | None = None  # as in Span


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file or of a commit, as they are now."""

    source: str  # the path of the file or the hash of the commit
    language: str
    start_line: int  # of the first of these lines, from 1
    lines: tuple[str, ...]
    total_lines: int  # of the whole file or commit


@dataclass(frozen=True, slots=True)
class Record:
    """A text that an agent may be shown, and where it stands."""

    source: str  # what `vectordb_read` or a person finds it by
    text: str
    score: float = 0.0  # how well it answers; the backend says so
    about: str = ""  # what it is, in a word or two: a language, a function
    more: tuple[Span, ...] = ()  # further lines of the same file that answer, best first


@dataclass(frozen=True, slots=True)
class Findings:
    """What a backend found by itself, and what is to be said of it."""

    records: tuple[Record, ...]
    remarks: tuple[str, ...] = ()  # for the reader, one sentence each
    facts: Mapping[str, Any] = field(default_factory=dict)  # the same for programs; Any: JSON


@dataclass(frozen=True, slots=True)
class QueryInterpretation:
    """How a question was read."""

    intent: str  # symbol, error, howto, usage, configuration, history, test or search
    phrases: tuple[str, ...]  # must stand in the file
    regex: str | None  # must match a line of the file
    excluded: tuple[str, ...]  # must not stand in what is shown
    paths: tuple[str, ...]  # with a "-" before those that were not wanted
    languages: tuple[str, ...]
    corrected: Mapping[str, str]  # typed name -> the one that was searched for
    translated: tuple[str, ...]  # English words that were added


@dataclass(frozen=True, slots=True)
class Staleness:
    """How far an index is behind its folder."""

    age_seconds: float  # since it was last known to agree with the folder
    changed_files: int  # changed, new or gone since then


@dataclass(frozen=True, slots=True)
class IndexCoverage:
    """How much of the folder an answer is from, while its index is made for the first time."""

    searched_bytes: int
    total_bytes: int  # of the files that there are to read


@dataclass(frozen=True, slots=True)
class MemoryReference:
    """A file, or a name in it, that a memory is tied to."""

    path: str  # relative to its root
    symbol: str = ""  # a name that the file defines; empty: the file as a whole
    root: str = ""  # the folder of the project, as an absolute path; empty: not known
    digest: str = ""  # of the file's content when it was remembered; empty: there was none

    @property
    def place(self) -> tuple[str, str, str]:
        """What tells one file or symbol from another."""
        return self.root, self.path, self.symbol


@dataclass(frozen=True, slots=True)
class Memory:
    """Something that was told and kept. Of two that contradict each other the newer one holds."""

    id: str
    text: str
    created_at: str  # ISO 8601, UTC: when it was told last
    score: float = 0.0  # 0 to 1: how well it fits what was asked
    count: int = 1  # how often exactly this was told
    about: tuple[MemoryReference, ...] = ()
    possibly_stale: bool = False  # a file that it is about has changed since


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """One page of answers, best first."""

    results: tuple[SearchResult, ...]
    next_cursor: str | None
    degraded: tuple[str, ...]  # parts that could not take part, and "stale" for an index in arrears
    confident: bool | None
    generation: int  # the state of the index that answered
    took_ms: float
    suggestions: tuple[str, ...] = ()
    interpretation: QueryInterpretation | None = None  # if an explanation was requested
    staleness: Staleness | None = None  # where "stale" is in `degraded`
    coverage: IndexCoverage | None = None  # if "partial" is in `degraded`
    memories: tuple[Memory, ...] = ()  # no part of the folder: what was told earlier and fits


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run of indexing did."""

    generation: int
    files_indexed: int  # read, cut and written in this run
    files_removed: int
    files_total: int
    chunks_total: int
    chunks_embedded: int  # the others kept the vectors that they had
    bytes_indexed: int
    skipped: Mapping[str, int]  # reason -> files, of the whole index
    seconds: float
    chunks_pending: int = 0  # can be found by their words alone until they have their embedding
    pending_reason: str = ""  # why that failed, where it did


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """A leg that a server serves, as it was when the server was last heard of."""

    leg: str  # dense or sparse
    backend: str
    server: str
    index: str  # its name there; empty as long as nothing was written
    generation: int  # of the index here that it has seen; -1 for nothing
    waiting_files: int  # that changed here since
    failing_since: str | None  # ISO 8601, UTC
    next_try: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class IndexUpdated:
    """The event "index-updated": a new generation of the index can be searched."""

    generation: int
    changed: tuple[str, ...]  # paths of files that are new or have another content
    removed: tuple[str, ...]  # and of those that are gone or no longer indexed


@dataclass(frozen=True, slots=True)
class WatcherStatus:
    """What is known of the process that keeps an index fresh."""

    health: Health
    pid: int
    last_commit_age_seconds: float | None  # since the index last agreed with the folder
    waiting: int  # files that changed and are not indexed yet
    waiting_age_seconds: float | None
    min_interval_seconds: float  # between two updates, where somebody slowed it
    last_error: str | None


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The index as it stands, without bringing it up to date."""

    root: str
    index_dir: str
    exists: bool
    generation: int
    files: int
    chunks: int
    index_bytes: int
    source_bytes: int
    age_seconds: float | None  # since the last successful run
    model: str
    languages: Mapping[str, int]  # language -> files
    encodings: Mapping[str, int]  # encoding -> files
    skipped: Mapping[str, int]  # reason -> files
    skipped_files: tuple[tuple[str, str], ...]  # (path, reason), in order of the path
    pending: int  # files that changed since the last run
    pending_embeddings: int  # chunks that can be found by their words alone for now
    skipped_text_share: float  # share of characters beyond the limit for one file
    unused_settings: tuple[str, ...] = ()  # keys that are set and have no effect, each with why
    backends: tuple[BackendStatus, ...] = ()  # of the legs that servers serve
    pending_since: str | None = None  # when the oldest of these was indexed; ISO 8601, UTC
    pending_reason: str = ""  # why their embedding failed, where it did
    pending_retry_at: str | None = None  # when it is tried again, where that is not at once
    model_remark: str = ""  # why it is not the model that the configuration names
    watcher: WatcherStatus | None = None  # None where nobody watches
    plugins: tuple[str, ...] = ()  # "kind name" of each
    broken_plugins: tuple[str, ...] = ()  # why each of them was left out


def camel_case(name: str) -> str:
    """The JSON name of a field: `file_size_bytes` -> `fileSizeBytes`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def ignore_progress(done: int, total: int) -> None:
    """Do nothing; a ProgressCallback."""


def ignore_warning(message: str) -> None:
    """Do nothing; a WarningCallback."""
