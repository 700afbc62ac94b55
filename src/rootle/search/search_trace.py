"""The telemetry of one search: its span, counters, events and line in the search log."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from rootle.errors import QueryError
from rootle.serialization.json import camel_case
from rootle.serialization.timestamps import format_timestamp
from rootle.storage.rotating_file import MAX_BYTES, RotatingFile
from rootle.telemetry.spans import (
    CACHE_HITS,
    DENSE_FAILURES,
    DENSE_FALLBACK,
    NO_RECALL,
    NO_RESULTS,
    REQUESTS,
    STALE_INDEX_WARNING,
    Stage,
    count,
    rerank_stage,
    search_stage,
)
from rootle.text.secret_masking import mask_secrets
from rootle.types import SearchQuery, SearchResponse

if TYPE_CHECKING:
    from rootle.text.secret_detection import Exceptions

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SearchLog:
    """The log record of one search."""

    query: str
    num_dense_hits: int
    num_sparse_hits: int
    num_merged: int
    rerank_latency_ms: float
    total_latency_ms: float
    used_embedding_model: str
    used_reranker_model: str
    timestamp: str  # ISO 8601, UTC
    events: tuple[str, ...] = ()  # members of rootle.telemetry.spans.EVENTS


# Computed once, because an answer from the cache takes little longer than writing its log line.
_KEYS: Final = tuple((field.name, camel_case(field.name)) for field in fields(SearchLog))
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


class SearchLogFile:
    """Writes one JSON line per search to a file of limited size."""

    def __init__(
        self,
        path: Path,
        *,
        with_query_text: bool,
        secret_exceptions: Exceptions = (),
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._file = RotatingFile(path, max_bytes)
        self._with_query_text = with_query_text
        self._secret_exceptions = secret_exceptions
        self._is_broken = False

    def write(self, log: SearchLog) -> None:
        """Append a line. On failure, log one warning and write nothing more."""
        if self._is_broken:
            return
        data = {key: getattr(log, name) for name, key in _KEYS}
        query = log.query if self._with_query_text else ""
        data["query"] = mask_secrets(query, self._secret_exceptions).text
        try:
            self._file.append(f"{_encode(data)}\n".encode("utf-8", "replace"))
        except OSError as error:
            self._is_broken = True
            path = self._file.path
            _LOG.warning("cannot write the search log %s (key searchLog): %s", path, error)


# The records of the searches in a block of `collect_searches`.
_COLLECTED: Final = ContextVar[list[SearchLog] | None]("collected", default=None)


@contextmanager
def collect_searches() -> Iterator[list[SearchLog]]:
    """Collect the records of all searches in the block, instead of writing them to the log."""
    collected: list[SearchLog] = []
    token = _COLLECTED.set(collected)
    try:
        yield collected
    finally:
        _COLLECTED.reset(token)


def merge_records(
    query: SearchQuery, parts: Sequence[SearchLog], response: SearchResponse | None, clock_s: float
) -> SearchLog:
    """Return one record for a search of several indexes; `parts` are the records of the indexes.

    `response` is None if the search failed.
    """
    is_empty = response is not None and not response.results and query.cursor is None
    events = dict.fromkeys(one for part in parts for one in part.events if one != NO_RECALL)
    took_ms = response.took_ms if response is not None else 0.0
    return SearchLog(
        query=query.text_query,
        num_dense_hits=sum(part.num_dense_hits for part in parts),
        num_sparse_hits=sum(part.num_sparse_hits for part in parts),
        num_merged=sum(part.num_merged for part in parts),
        rerank_latency_ms=round(sum(part.rerank_latency_ms for part in parts), 3),
        total_latency_ms=max(took_ms, round(sum(part.total_latency_ms for part in parts), 3)),
        used_embedding_model=_join(part.used_embedding_model for part in parts),
        used_reranker_model=_join(part.used_reranker_model for part in parts),
        timestamp=format_timestamp(clock_s, timespec="milliseconds"),
        events=((NO_RECALL,) if is_empty else ()) + tuple(events),
    )


def _join(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, names)))


class SearchTrace:
    """Context manager that records one search.

    The steps report to it the numbers that the response does not contain.
    """

    def __init__(
        self,
        query: SearchQuery,
        log: SearchLogFile | None,
        embedding_model: str,
        clock: Callable[[], float],
    ) -> None:
        self._ranker = ""
        self._dense_hits = 0
        self._sparse_hits = 0
        self._candidates = 0
        self._results = 0
        self._query = query
        self._log = log
        self._embedding_model = embedding_model
        self._clock = clock
        self._stage = search_stage(len(query.text_query))
        self._rerankings: list[Stage] = []  # one for each group of files ranked together

    def __enter__(self) -> Self:
        count(REQUESTS)
        self._stage.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stage.set_attributes(
            denseHits=self._dense_hits,
            sparseHits=self._sparse_hits,
            totalCandidates=self._candidates,
            finalResults=self._results,
        )
        self._stage.__exit__(kind, error, trace)
        if isinstance(error, QueryError):
            return
        collected = _COLLECTED.get()
        if collected is not None:
            collected.append(self._log_entry())
        elif self._log is not None:
            self._log.write(self._log_entry())

    def record_cache_hit(self) -> None:
        """Count an answer that came from a cache."""
        count(CACHE_HITS)

    def record_retrieval(self, *, sparse_hits: int, dense_hits: int, candidates: int) -> None:
        """Record how many chunks each leg found, and how many are ranked.

        This method is called once for each group of files that are ranked together. The searches
        for later groups cover fewer files, so the largest numbers of hits are recorded. The numbers
        of candidates are added up.
        """
        self._sparse_hits = max(self._sparse_hits, sparse_hits)
        self._dense_hits = max(self._dense_hits, dense_hits)
        self._candidates += candidates

    def record_ranker(self, name: str) -> None:
        """Record which ranker or reranking model determined the order."""
        self._ranker = name
        if self._rerankings:
            self._rerankings[-1].set_attributes(rerankerModelID=name)

    def rerank_stage(self, candidates: int, model: str | None = None) -> Stage:
        """Return a context manager that records the final ranking as the rerank span.

        `model` is the reranker, or None if no reranker is used.
        """
        stage = rerank_stage(model)
        stage.set_attributes(candidateCount=candidates)
        self._rerankings.append(stage)
        return stage

    def record_response(self, response: SearchResponse) -> None:
        """Count empty and degraded responses."""
        self._results = len(response.results)
        if not response.results and self._query.cursor is None:
            count(NO_RESULTS)
            self._stage.add_event(NO_RECALL)
        if "dense" in response.degraded:
            count(DENSE_FAILURES)
            self._stage.add_event(DENSE_FALLBACK)
        if "stale" in response.degraded:
            self._stage.add_event(STALE_INDEX_WARNING)

    def _log_entry(self) -> SearchLog:
        return SearchLog(
            query=self._query.text_query,
            num_dense_hits=self._dense_hits,
            num_sparse_hits=self._sparse_hits,
            num_merged=self._candidates,
            rerank_latency_ms=round(sum(stage.ms for stage in self._rerankings), 3),
            total_latency_ms=self._stage.ms,
            used_embedding_model=self._embedding_model,
            used_reranker_model=self._ranker,
            timestamp=format_timestamp(self._clock(), timespec="milliseconds"),
            events=tuple(self._stage.events),
        )
