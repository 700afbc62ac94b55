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
# The author of a text that is not part of the project. "dependency": the authors of an installed
# package. "external": anyone, such as the authors of a web page.
OutsideTrust = Literal["dependency", "external"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query with its filters. A filter that is None restricts nothing."""

    text_query: str
    file_paths: tuple[str, ...] | None = None  # files, folders or globs, relative to the root
    languages: tuple[str, ...] | None = None
    min_recency_days: float | None = None  # only files modified in the last N days
    # the maximum number of results per page; None for the configured default
    limit: int | None = None
    cursor: str | None = None  # `next_cursor` of an earlier response to the same query
    context: bool = False  # whether to add the surrounding code to each result
    # the maximum number of tokens of the results and the memories, as Markdown
    budget: int | None = None
    exclude: tuple[str, ...] = ()  # "path:start-end": lines to leave out of the contexts
    # whether the server at `expandEndpoint`, if any, may add words to the question
    expand: bool = True
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
    translations: tuple[str, ...] = ()  # paths of omitted translations of the same page
    context: Context | None = None  # None if it was not requested
    # the contribution of each feature; None if it was not requested
    explanation: Mapping[str, float] | None = None
    place: str | None = None  # as in Span
    commit: CommitFacts | None = None  # the commit, if the result is one
    # the last commit of the function in the best span, or of the file
    last_commit: CommitFacts | None = None
    kind: ResultKind = "code"
    # the origin of text from outside the project: "httpx 0.28.1", or a URL
    origin: str | None = None
    trust: OutsideTrust | None = None  # None for text of the project
    # a warning if text from outside the project gives orders to an agent
    warning: str | None = None
    # names in a diagram -> "path:line" of their definitions
    mentions: Mapping[str, str] | None = None
    # the lines that contain the pasted text of the query, best first
    matching_lines: tuple[int, ...] | None = None


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
    phrases: tuple[str, ...]  # phrases that must occur in the file
    regex: str | None  # a regular expression that must match a line of the file
    excluded: tuple[str, ...]  # words that must not occur in the results
    paths: tuple[str, ...]  # excluded paths start with "-"
    languages: tuple[str, ...]
    corrected: Mapping[str, str]  # misspelled name in the query -> name that was searched instead
    translated: tuple[str, ...]  # English words added to the query
    expansion: str = ""  # words that the server at `expandEndpoint` added to the query
    # further terms that are searched, because code may use them for words of the query
    related: tuple[str, ...] = ()
    # a text such as "uses of retry_backoff" if the query asks about a defined name
    symbol: str = ""
    kinds: tuple[str, ...] = ()  # the values of `in:`
    authors: tuple[str, ...] = ()
    since: str = ""  # the date in the query, or the time of the commit, tag or branch in it
    until: str = ""
    at: str = ""  # the version that is searched instead of the current files


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """One page of results.

    Results of the same kind, such as files or commits, are listed best first. Scores of different
    kinds are not comparable: a result may have a higher score than a result of another kind above
    it.
    """

    results: tuple[SearchResult, ...]
    next_cursor: str | None
    # names of the parts of the search that failed; "stale" if the index is out of date
    degraded: tuple[str, ...]
    confident: bool | None  # False: probably no result answers the query; None: not known
    generation: int  # the generation of the searched index
    took_ms: float
    suggestions: tuple[str, ...] = ()
    interpretation: QueryInterpretation | None = None  # None if no explanation was requested
    staleness: Staleness | None = None  # None if no unindexed changes are known
    coverage: IndexCoverage | None = None  # None if "partial" is not in `degraded`
    memories: tuple[Memory, ...] = ()  # stored memories that match the query
    symbols: SymbolAnswer | None = None  # None if the query does not ask about a defined name
    revision: SearchedRevision | None = None  # None if the query names no revision
