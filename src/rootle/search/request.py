"""Requests: validated queries with the context in which they are answered."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from rootle.concurrency.concurrent_query_limit import ActiveQueries
from rootle.config.fields import Config
from rootle.errors import QueryError
from rootle.search.long_question import MAX_QUERY_CHARS, shorten_question
from rootle.search.query.file_filters import filter_files
from rootle.search.query.operators import ParsedQuery, parse_query
from rootle.search.query_traits import Trait, Traits
from rootle.search.results.cursor import Position, decode_cursor
from rootle.search.revision_periods import ListChanged, ListPeriod, no_periods
from rootle.search.search_trace import SearchTrace
from rootle.search.session import Session, Sessions
from rootle.text.terms import WORD
from rootle.types import SearchQuery

# The tokens that a result with a short function takes, including its heading.
_TOKENS_PER_PASSAGE: Final = 100
_NOT_EXPANDED: Final = "\0not expanded"
_EXCLUSION: Final = re.compile(r"(.+):(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A valid query and the context in which it is answered."""

    query: SearchQuery  # with the defaults of the configuration; a long question is shortened
    digest: bytes  # of the question and its filters; the same for all pages of an answer
    position: Position | None  # decoded from the cursor
    offset: int  # of the page's first result in the whole answer
    limit: int
    now_s: float  # Unix time from which recency is counted
    explain: bool
    is_stale: bool  # the index is known to be behind its folder
    session: Session
    active: ActiveQueries
    trace: SearchTrace
    started_s: float  # the start of the search, from time.perf_counter
    parsed: ParsedQuery  # the question and its operators
    traits: Traits  # those that were determined from the text and the fields of the query
    expansion: str = ""  # words from a language model that are searched with the question
    is_exclusive: bool = False  # no other query of this index runs in the meantime
    list_period: ListPeriod = no_periods  # lists the commits that a revision in a filter selects
    # Lists the files that changed between revisions; None if `since:` compares only dates of files.
    list_changed: ListChanged | None = None


class RequestReader:
    """Validates queries and converts them to requests."""

    def __init__(
        self,
        sessions: Sessions,
        config: Config,
        clock: Callable[[], float] = time.time,
        list_period: ListPeriod = no_periods,
        list_changed: ListChanged | None = None,
    ) -> None:
        self.active = ActiveQueries()
        self._sessions = sessions
        self._config = config
        self._clock = clock
        self._list_period = list_period
        self._list_changed = list_changed

    def close(self) -> None:
        """Release the index; the next query opens it again."""
        self._sessions.close()

    def read(
        self, query: SearchQuery, trace: SearchTrace, *, explain: bool, is_stale: bool
    ) -> SearchRequest:
        """Return the request for a query.

        Raise QueryError if the query is invalid, and StaleCursorError if its cursor is invalid or
        belongs to another query or generation.
        """
        started_s = time.perf_counter()
        query = _shorten(query)
        limit, parsed = _check(query, self._config)
        if query.min_recency_days is None and self._config.min_recency_days:
            query = replace(query, min_recency_days=self._config.min_recency_days)
        digest = _digest_query(query)
        session = self._sessions.current()
        position = None
        if query.cursor is not None:
            position = decode_cursor(query.cursor, digest, session.index.generation)
        return SearchRequest(
            query,
            digest,
            position,
            offset=position.offset if position else 0,
            limit=limit,
            now_s=position.as_of_s if position else self._clock(),
            explain=explain,
            is_stale=is_stale,
            session=session,
            active=self.active,
            trace=trace,
            started_s=started_s,
            parsed=parsed,
            traits=_find_traits(query, parsed),
            list_period=self._list_period,
            list_changed=self._list_changed,
        )


def check_query(query: SearchQuery, config: Config) -> int:
    """Return the number of results per page. Raise QueryError if the query is invalid."""
    return _check(_shorten(query), config)[0]


def check_filters(query: SearchQuery, resolve: Callable[[str], str]) -> None:
    """Raise QueryError if a filter of a valid query is invalid, without reading an index.

    `resolve` returns a question in which the revisions in filters are replaced by their dates.
    """
    query = _shorten(query)
    parsed = parse_query(query.text_query)
    if "filters" in _find_traits(query, parsed):
        if parsed.since or parsed.until:
            parsed = parse_query(resolve(query.text_query))
        filter_files(query, parsed, (), time.time())


def _shorten(query: SearchQuery) -> SearchQuery:
    if len(query.text_query) <= MAX_QUERY_CHARS:
        return query
    return replace(query, text_query=shorten_question(query.text_query))


def _check(query: SearchQuery, config: Config) -> tuple[int, ParsedQuery]:
    """Return the number of results per page, and the parsed question."""
    if not query.text_query.strip():
        raise QueryError("the question is empty; ask in words or name a symbol")
    parsed = parse_query(query.text_query)
    # `in:history` with another filter needs no words.
    has_words = WORD.search(parsed.text) or parsed.is_exact
    if not has_words and (parsed.text.strip() or not parsed.has_filters):
        raise QueryError("the question contains no letter or digit; ask in words")
    _check_context(query)
    limit = _default_limit(query, config) if query.limit is None else query.limit
    if not 1 <= limit <= config.max_limit:
        raise QueryError(
            f"limit is {limit}; give a number from 1 to {config.max_limit}", parameter="limit"
        )
    return limit, parsed


def _find_traits(query: SearchQuery, parsed: ParsedQuery) -> Traits:
    found: dict[Trait, bool] = {
        "context": query.context or query.budget is not None or bool(query.exclude),
        "filters": parsed.has_filters
        or query.file_paths is not None
        or query.languages is not None
        or bool(query.min_recency_days),
        "exact": parsed.is_exact,
        "exclusions": bool(parsed.excluded),
    }
    return frozenset(trait for trait, is_present in found.items() if is_present)


def parse_exclusions(places: Iterable[str]) -> dict[str, list[range]]:
    """Return the excluded lines by path.

    Raise QueryError if an entry does not have the format `path:start-end`.
    """
    lines: dict[str, list[range]] = {}
    for place in places:
        match = _EXCLUSION.fullmatch(place)
        if match is None:
            raise QueryError(
                f'exclude has "{place}", expected "path:start-end", as in "src/a.py:3-20"',
                parameter="exclude",
            )
        lines.setdefault(match[1], []).append(range(int(match[2]), int(match[3]) + 1))
    return lines


def _check_context(query: SearchQuery) -> None:
    if query.budget is not None and query.budget < 1:
        raise QueryError(
            f"budget is {query.budget}; give a number of tokens, at least 1", parameter="budget"
        )
    if query.budget is not None and query.cursor is not None:
        raise QueryError(
            "an answer within a budget has no further pages; leave out the cursor and use exclude"
        )
    if query.exclude:
        parse_exclusions(query.exclude)


def _default_limit(query: SearchQuery, config: Config) -> int:
    """Return the configured limit, or a higher one if a budget has room for more results."""
    if query.budget is None:
        return config.default_limit
    return min(config.max_limit, max(config.default_limit, query.budget // _TOKENS_PER_PASSAGE))


def _digest_query(query: SearchQuery) -> bytes:
    """Return a digest of a question and its filters. All pages of an answer share it."""
    filters = _filters_text(query.file_paths, query.languages, query.min_recency_days)
    text = f"{query.text_query}\0{filters}{'' if query.expand else _NOT_EXPANDED}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@lru_cache(maxsize=64)
def _filters_text(*filters: object) -> str:
    names = ("filePaths", "languages", "minRecencyDays")
    return json.dumps(dict(zip(names, filters, strict=True)))
