"""The records of the public API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

ProgressCallback = Callable[[int, int], None]  # receives bytes done and bytes in total
WarningCallback = Callable[[str], None]  # receives a message about a delay or a degradation

ResultSource = Literal["dense", "sparse", "merged"]
Health = Literal["fresh", "behind", "paused", "throttled", "failed", "gone"]

FILES: Final = "files"  # name of the source that lists the files of the folder
EXTRACTED: Final = "document"  # the "encoding" of text that a document reader extracted
# The reason why documents are skipped that only an optional library can read.
NEEDS_EXTRA: Final = "needs rootle[documents]"


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """The metadata of a file."""

    last_modified: str | None  # ISO 8601, UTC; None if it is not known
    language: str
    file_size_bytes: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Consecutive lines of a file: the unit that is embedded and indexed."""

    file_path: str  # relative to the root of the index, with "/" on every platform
    sequence_number: int  # position among the chunks of its file, from 0
    start_line: int  # from 1, inclusive
    end_line: int
    text: str
    metadata: FileMetadata
    embedding: tuple[float, ...] | None = None  # a unit vector; None if it is pending

    @property
    def chunk_id(self) -> str:
        """The path and sequence number: "src/retry.py::3". An edit of the file can change it."""
        return f"{self.file_path}::{self.sequence_number}"


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """Lines of an extracted text that are cited by a label, such as a page, a slide or a cell."""

    label: str  # unique in its document; "slide-2" is cited as "deck.pptx#slide-2"
    start_line: int  # from 1, inclusive
    end_line: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query with its filters. A filter that is None restricts nothing."""

    text_query: str
    file_paths: tuple[str, ...] | None = None  # files, folders or globs, relative to the root
    languages: tuple[str, ...] | None = None
    min_recency_days: float | None = None  # only files modified in the last N days
    limit: int | None = None  # results per page; None for the configured default
    cursor: str | None = None  # `next_cursor` of an earlier response to the same query
    context: bool = False  # expand each result to the code around it
    budget: int | None = None  # maximum number of tokens in the contexts of all results together
    exclude: tuple[str, ...] = ()  # "path:start-end": lines to leave out of the contexts
    expand: bool = True  # let the server at `expandEndpoint`, if any, add words to the question
    at: str | None = None  # a hash, tag, branch or date; None for the current files


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters for `search(query, filters)`. A filter that is None restricts nothing."""

    file_paths: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    min_recency_days: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file that match the query."""

    start_line: int
    end_line: int
    snippet: str
    scope: str  # the enclosing function, class or heading
    place: str | None = None  # the label of the section, in a document with sections


@dataclass(frozen=True, slots=True)
class Context:
    """The lines of a result and the code around them, read from the current file."""

    passages: tuple[Span, ...]  # in order of their lines; they do not overlap
    changed: bool  # whether the file has changed since it was indexed


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changed."""

    path: str
    functions: tuple[str, ...]  # the definitions or headings in which lines changed


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """A commit: who changed what, and when."""

    hash: str  # all digits
    date: str  # ISO 8601, UTC
    author: str  # "Name <address>"
    subject: str  # the first line of the message
    files: tuple[ChangedFile, ...] = ()  # at most 30, the most important first


@dataclass(frozen=True, slots=True)
class Removal:
    """Code that no longer exists, and the commit that removed it."""

    path: str  # of its file before the commit
    name: str  # of the removed definition; "" if only lines of a definition were removed
    scope: str  # the definition that enclosed the lines; "" if unknown
    start_line: int  # before the commit, from 1
    lines: tuple[str, ...]  # without those around them that were kept
    commit: CommitFacts
    score: float  # 0 to 1


@dataclass(frozen=True, slots=True)
class RemovalAnswer:
    """Removed code that matches a query, best first."""

    query: str
    removals: tuple[Removal, ...]
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class ImpactedFile:
    """A file that probably changes together with others, and the evidence."""

    path: str
    kind: str  # code, test or document
    probability: float  # that it changes in the same commit, 0 to 1
    seed: str  # the changed file to which the evidence refers
    cochanges: int  # number of commits that changed both
    confidence: float  # their share of the commits of `seed`, newer and smaller ones count more
    commits: tuple[CommitFacts, ...]  # at most three that changed both, the newest first
    references: tuple[str, ...]  # names that one of the two files defines and the other contains
    similarity: float  # of the words of both files, 0 to 1


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """The files that probably change together with others, most probable first."""

    seeds: tuple[str, ...]  # the files that change
    files: tuple[ImpactedFile, ...]
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A matching file, with its best span and up to three more."""

    file_path: str
    start_line: int
    end_line: int
    snippet: str
    score: float  # 0 to 1
    source: ResultSource  # the search that found the best span; "merged" if both did
    metadata: FileMetadata
    scope: str = ""
    more_spans: tuple[Span, ...] = ()
    duplicates: tuple[str, ...] = ()  # paths of omitted files with nearly the same content
    context: Context | None = None  # if requested
    explanation: Mapping[str, float] | None = None  # contribution of each feature, if requested
    place: str | None = None  # as in Span
    commit: CommitFacts | None = None  # if the result is a commit
    last_commit: CommitFacts | None = None  # that changed the best span's function, or the file


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file in its current state, or of a commit."""

    source: str  # the path of the file or the hash of the commit
    language: str
    start_line: int  # number of the first line, from 1
    lines: tuple[str, ...]
    total_lines: int  # of the whole file or commit
    note: str = ""  # a message for the reader if the lines are not exactly those requested


@dataclass(frozen=True, slots=True)
class PassageCommit:
    """A commit that changed the meaning of a passage, not only its white space or its place."""

    hash: str  # all digits
    date: str  # ISO 8601, UTC
    author: str  # "Name <address>"
    subject: str  # the first line of the message
    message: str  # all of it, with masked secrets
    share: float  # of the words of the passage, the part that it introduced, 0 to 1
    lines: tuple[int, ...]  # the lines of the passage that it changed, by their numbers now
    path: str  # of the file in this commit
    numbers: tuple[int, ...] = ()  # of the issues and pull requests that the messages name
    merge: str = ""  # the hash of the merge that brought it into the main line; "" if none did
    merge_subject: str = ""
    reverts: str = ""  # the hash of the commit that it reverts
    reverted_subject: str = ""


@dataclass(frozen=True, slots=True)
class DocumentMention:
    """A line of a document that mentions a name of a passage, or its file."""

    path: str
    line: int  # from 1
    name: str  # the name or path that it mentions
    text: str  # the line


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """The reasons for a passage: commits, documents and memories."""

    place: str  # the lines that were asked for, as "path:10" or "path:10-20"
    name: str  # the enclosing definition or section; "" if there is none
    passage: Passage
    commits: tuple[PassageCommit, ...]  # the one that explains the lines best comes first
    uncommitted: tuple[int, ...]  # lines of the passage that are not committed yet
    replaced: tuple[str, ...]  # the committed lines that they replace
    documents: tuple[DocumentMention, ...]
    memories: tuple[Memory, ...]
    is_complete: bool  # False: older commits are missing, or were not read in time
    notes: tuple[str, ...]  # such as the reason why older commits are missing


@dataclass(frozen=True, slots=True)
class Definition:
    """A named range of lines: a definition in source code, or a heading with its section."""

    name: str  # after the enclosing definitions, outermost first: "class A > def b"
    first_line: int  # from 1, inclusive; includes the comment above the definition
    last_line: int


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The lines of an indexed document, and its definitions."""

    path: str
    lines: tuple[str, ...]
    definitions: tuple[Definition, ...]  # in the order of the file, members after their owners


SymbolAspect = Literal["definitions", "uses", "tests", "implementations"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A place where a name is defined."""

    name: str
    # A keyword such as class, def or fn, or else function, variable, macro or declaration.
    kind: str
    scope: str  # the enclosing definitions, outermost first: "class A > class B"
    path: str
    line: int  # of the name, from 1
    start_line: int  # of the definition, with the comment above it
    end_line: int
    signature: str  # the line with the name
    language: str
    visibility: str  # public, protected or private, by its modifiers and naming conventions


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """A line on which a name occurs outside of its definitions."""

    path: str
    line: int  # from 1
    kind: str  # call, implementation, type, import, reference, comment, string or document
    scope: str  # the enclosing function, outermost definition first
    text: str  # the line
    is_test: bool
    target: str = ""  # "path:line" of the definition; empty if the code does not show which one


@dataclass(frozen=True, slots=True)
class SymbolAnswer:
    """The definitions of a name, and one page of its uses: calls first, then tests, comments."""

    name: str
    aspect: SymbolAspect
    definitions: tuple[Symbol, ...]  # all of them, the most relevant first
    uses: tuple[SymbolUse, ...]  # on this page; empty if the aspect is "definitions"
    offset: int  # number of uses on earlier pages
    total_uses: int  # on all pages; counts all uses if the aspect is "definitions"
    counts: Mapping[str, int]  # kind -> number of uses, on all pages
    is_complete: bool  # False: not all files with the name were read, so counts are lower bounds
    next_cursor: str | None
    similar: tuple[str, ...] = ()  # the nearest defined names, if this one is not defined


@dataclass(frozen=True, slots=True)
class Record:
    """A passage of text that a backend returns to an agent, with its source."""

    source: str  # a reference for `vectordb_read`
    text: str
    score: float = 0.0  # relevance, as defined by the backend
    about: str = ""  # a short description, such as the language and the function


@dataclass(frozen=True, slots=True)
class QueryInterpretation:
    """The result of parsing a query."""

    intent: str  # symbol, error, howto, usage, configuration, history, test or search
    phrases: tuple[str, ...]  # must occur in the file
    regex: str | None  # must match a line of the file
    excluded: tuple[str, ...]  # must not occur in the results
    paths: tuple[str, ...]  # excluded paths start with "-"
    languages: tuple[str, ...]
    corrected: Mapping[str, str]  # typed name -> name used instead
    translated: tuple[str, ...]  # English words added to the query
    expansion: str = ""  # words that the server at `expandEndpoint` added to the query
    symbol: str = ""  # if the query asks about a defined name: such as "uses of retry_backoff"


@dataclass(frozen=True, slots=True)
class Staleness:
    """The lag of an index behind its folder."""

    age_seconds: float  # since the index last matched the folder
    changed_files: int  # changed, added or deleted since then


@dataclass(frozen=True, slots=True)
class IndexCoverage:
    """The part of a folder that was searched while its first index was being built."""

    searched_bytes: int
    total_bytes: int  # of all files to index


@dataclass(frozen=True, slots=True)
class MemoryReference:
    """A file or symbol that a memory references."""

    path: str  # relative to its root
    symbol: str = ""  # a name that the file defines; empty for the whole file
    root: str = ""  # absolute path of the project; empty if unknown
    digest: str = ""  # of the content when the memory was stored; empty if there was none

    @property
    def place(self) -> tuple[str, str, str]:
        """The key that identifies the file or symbol."""
        return self.root, self.path, self.symbol


@dataclass(frozen=True, slots=True)
class MemoryOrigin:
    """The project in which a memory is stored, and whether the memory is about the user."""

    root: str  # absolute path of the project; empty outside of projects
    is_personal: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. If two memories contradict each other, the newer one is valid."""

    id: str
    text: str
    created_at: str  # time at which it was last stored; ISO 8601, UTC
    score: float = 0.0  # relevance to the query, 0 to 1
    count: int = 1  # number of times the same text was stored
    about: tuple[MemoryReference, ...] = ()
    possibly_stale: bool = False  # whether a referenced file has changed since then
    stored_in: tuple[str, ...] = ()  # projects in which it was stored; empty if unknown
    is_personal: bool = False  # about the user, and therefore shown in every project


@dataclass(frozen=True, slots=True)
class SearchedRevision:
    """The commit whose files were searched instead of those in the folder."""

    name: str  # as in the query
    hash: str  # all digits
    date: str  # of the commit; ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """One page of results, best first."""

    results: tuple[SearchResult, ...]
    next_cursor: str | None
    degraded: tuple[str, ...]  # failed components; "stale" for an index that lags behind
    confident: bool | None  # False: probably no result answers the query; None: unknown
    generation: int  # of the index that was searched
    took_ms: float
    suggestions: tuple[str, ...] = ()
    interpretation: QueryInterpretation | None = None  # if an explanation was requested
    staleness: Staleness | None = None  # if a check found changes that are not indexed
    coverage: IndexCoverage | None = None  # if "partial" is in `degraded`
    memories: tuple[Memory, ...] = ()  # stored memories that match the query
    symbols: SymbolAnswer | None = None  # if the query asks about a name that is defined
    revision: SearchedRevision | None = None  # if the query named one


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of one indexing run."""

    generation: int
    files_indexed: int  # read and written in this run
    files_removed: int
    files_total: int
    chunks_total: int
    chunks_embedded: int  # in this run; the other chunks keep their vectors
    bytes_indexed: int
    skipped: Mapping[str, int]  # reason -> number of skipped files, not only in this run
    seconds: float
    chunks_pending: int = 0  # searchable by keyword only until they are embedded
    pending_reason: str = ""  # reason why embedding failed; empty if it succeeded


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """The state of a search backend on a server at the last contact."""

    leg: str  # dense or sparse
    backend: str
    server: str
    index: str  # its name on the server; empty until something is written
    generation: int  # newest generation of the local index that was copied there; -1 for none
    waiting_files: int  # files that have changed in the local index since that generation
    failing_since: str | None  # ISO 8601, UTC
    next_try: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class IndexUpdated:
    """The event "index-updated": a new generation of the index can be searched."""

    generation: int
    changed: tuple[str, ...]  # paths of files that are new or have changed
    removed: tuple[str, ...]  # paths of files that were deleted or are no longer indexed


@dataclass(frozen=True, slots=True)
class WatcherStatus:
    """The status of the process that keeps an index up to date."""

    health: Health
    pid: int
    last_commit_age_seconds: float | None  # since the index last matched the folder
    waiting: int  # files that have changed and are not indexed yet
    waiting_age_seconds: float | None
    min_interval_seconds: float  # between two updates; 0 unless throttled
    last_error: str | None


@dataclass(frozen=True, slots=True)
class PartialFile:
    """A file whose end is not indexed."""

    path: str
    limit: str  # the setting that it exceeds
    missing_share: float  # share of its text that is not indexed, 0 to 1


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """The status of the index of commits."""

    index_dir: str
    commits: int  # indexed so far
    index_bytes: int
    is_complete: bool  # whether all commits that `maxHistoryCommits` allows are indexed


@dataclass(frozen=True, slots=True)
class RevisionStatus:
    """The status of the indexes of earlier versions."""

    index_dir: str
    revisions: int  # that are indexed now
    index_bytes: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The status of an index. Reading it does not update the index."""

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
    languages: Mapping[str, int]  # language -> number of files
    encodings: Mapping[str, int]  # encoding -> number of files
    skipped: Mapping[str, int]  # reason -> number of files
    skipped_files: tuple[tuple[str, str], ...]  # (path, reason), sorted by path
    pending: int  # files that have changed since the last run
    pending_embeddings: int  # chunks that are searchable by keyword only for now
    skipped_text_share: float  # share of the text of the indexed files that is not indexed
    unused_settings: tuple[str, ...] = ()  # configured keys that have no effect, with the reasons
    backends: tuple[BackendStatus, ...] = ()  # of the search backends on servers
    pending_since: str | None = None  # when the oldest pending chunk was indexed; ISO 8601, UTC
    pending_reason: str = ""  # reason why embedding failed; empty if it succeeded
    pending_retry_at: str | None = None  # time of the next attempt; None: at the next update
    model_note: str = ""  # reason why the configured model is not used; empty if it is used
    watcher: WatcherStatus | None = None  # None if no watcher runs
    plugins: tuple[str, ...] = ()  # kind and name of each loaded plugin
    broken_plugins: tuple[str, ...] = ()  # for each plugin that was not loaded, the reason
    partial_files: tuple[PartialFile, ...] = ()  # sorted by path
    undated_files: int = 0  # files whose last commit is not known
    undated_reason: str = ""  # reason why it is not known; empty if there are no such files
    history: HistoryStatus | None = None  # None if no commit is indexed
    revisions: RevisionStatus | None = None  # None if no earlier version is indexed


def ignore_progress(done: int, total: int) -> None:
    """Do nothing. Callers that show no progress pass this ProgressCallback."""


def ignore_warning(message: str) -> None:
    """Do nothing. Callers that show no warnings pass this WarningCallback."""
