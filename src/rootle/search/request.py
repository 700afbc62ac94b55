"""A valid query with everything that the steps of a search need to know about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from rootle.config.fields import Config
from rootle.search.query.validation import check_query
from rootle.search.results.cursor import Position, decode_cursor, query_digest
from rootle.search.search_trace import SearchTrace
from rootle.search.session import ActiveQueries, Session, Sessions
from rootle.types import SearchQuery


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query that can be answered, and the context in which it is."""

    query: SearchQuery  # with the defaults of the configuration
    digest: bytes  # of the question and its filters; all pages of one answer share it
    position: Position | None  # decoded from the cursor
    offset: int  # of the first result among all
    limit: int
    now_s: float  # Unix time from which recency is counted
    explain: bool
    is_stale: bool  # the index is known to be behind its folder
    session: Session
    active: ActiveQueries
    trace: SearchTrace
    started_s: float  # by time.perf_counter


class RequestReader:
    """Turns queries into requests."""

    def __init__(
        self, sessions: Sessions, config: Config, clock: Callable[[], float] = time.time
    ) -> None:
        self.active = ActiveQueries()
        self._sessions = sessions
        self._config = config
        self._clock = clock

    def read(
        self, query: SearchQuery, trace: SearchTrace, *, explain: bool, is_stale: bool
    ) -> SearchRequest:
        """Return the request for a query.

        Raise QueryError for an invalid query and StaleCursorError for a cursor of another answer.
        """
        started_s = time.perf_counter()
        limit = check_query(query, self._config)
        if query.min_recency_days is None and self._config.min_recency_days:
            query = replace(query, min_recency_days=self._config.min_recency_days)
        digest = query_digest(query)
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
        )
