"""What is told of each search: its span, its counters, its events, its line in the search log."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rootle.errors import QueryError
from rootle.search.search_log import SearchLog, SearchLogFile
from rootle.serialization.timestamps import format_timestamp
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
from rootle.types import SearchQuery, SearchResponse

# What ranks where no model does: rank/rankers/feature_sum.py.
_WEIGHTED_SUM: Final = "heuristic"


class SearchTrace:
    """The account of one search, kept while `with` lasts.

    Whoever searches writes in what only it knows; the rest is read off the response.
    """

    def __init__(
        self,
        query: SearchQuery,
        log: SearchLogFile | None,
        embedding_model: str,
        clock: Callable[[], float],
    ) -> None:
        self.dense_hits = 0
        self.sparse_hits = 0
        self.candidates = 0
        self.reranker_model: str | None = None
        self._results = 0
        self._query = query
        self._log = log
        self._embedding_model = embedding_model
        self._clock = clock
        self._stage = search_stage(len(query.text_query))
        self._reranking: Stage | None = None

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
            denseHits=self.dense_hits,
            sparseHits=self.sparse_hits,
            totalCandidates=self.candidates,
            finalResults=self._results,
        )
        self._stage.__exit__(kind, error, trace)
        if self._log is not None and not isinstance(error, QueryError):
            self._log.write(self._line())

    def reranking(self, candidates: int, model: str | None = None) -> Stage:
        """The step that orders the candidates, to be entered."""
        self._reranking = rerank_stage(model)
        self._reranking.set_attributes(candidateCount=candidates)
        return self._reranking

    def note_cache_hit(self) -> None:
        count(CACHE_HITS)

    def answered(self, response: SearchResponse) -> SearchResponse:
        """Note what came of it."""
        self._results = len(response.results)
        if not response.results and self._query.cursor is None:
            count(NO_RESULTS)
            self._stage.add_event(NO_RECALL)
        if "dense" in response.degraded:
            count(DENSE_FAILURES)
            self._stage.add_event(DENSE_FALLBACK)
        if "stale" in response.degraded:
            self._stage.add_event(STALE_INDEX_WARNING)
        return response

    def _line(self) -> SearchLog:
        return SearchLog(
            query=self._query.text_query,
            num_dense_hits=self.dense_hits,
            num_sparse_hits=self.sparse_hits,
            num_merged=self.candidates,
            rerank_latency_ms=self._reranking.ms if self._reranking else 0.0,
            total_latency_ms=self._stage.ms,
            used_embedding_model=self._embedding_model,
            used_reranker_model=self._what_ranked(),
            timestamp=format_timestamp(self._clock(), timespec="milliseconds"),
            events=tuple(self._stage.events),
        )

    def _what_ranked(self) -> str:
        if self._reranking is None:
            return ""  # nothing was ranked: it came from the cache, or no leg answered
        return self.reranker_model or _WEIGHTED_SUM
