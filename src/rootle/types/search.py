"""Queries, results and responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rootle.types.documents import Context, FileMetadata, Span
from rootle.types.history import CommitFacts, SearchedRevision
from rootle.types.memories import Memory
from rootle.types.status import IndexCoverage, Staleness
from rootle.types.symbols import SymbolAnswer

ResultSource = Literal["dense", "sparse", "merged"]
ResultKind = Literal["code", "docs", "history", "deps", "web", "memory"]  # the values of `in:`
# Who wrote a text that is not part of the project: "dependency" for the authors of an installed
# package, "external" for anyone, such as the authors of a web page.
OutsideTrust = Literal["dependency", "external"]


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
    kind: ResultKind = "code"
    origin: str | None = None  # of text from outside the project: "httpx 0.28.1", or a URL
    trust: OutsideTrust | None = None  # None for text of the project
    warning: str | None = None  # if text from outside the project gives orders to an agent
    mentions: Mapping[str, str] | None = None  # in a diagram: names -> "path:line" of definitions
    matching_lines: tuple[int, ...] | None = None  # with the pasted text of the query, best first


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
    related: tuple[str, ...] = ()  # terms that code may use for words of the query; also searched
    symbol: str = ""  # if the query asks about a defined name: such as "uses of retry_backoff"
    kinds: tuple[str, ...] = ()  # the values of `in:`
    authors: tuple[str, ...] = ()
    since: str = ""  # a date as in the query, or the time of the commit, tag or branch
    until: str = ""
    at: str = ""  # the version that is searched instead of the current files


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """One page of results.

    Results of the same kind, such as files or commits, are listed best first. A result can have a
    higher score than a result of another kind above it.
    """

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
