"""Spans, counters, latencies and events, under the names of the specification.

This module uses the API of OpenTelemetry only if another module has imported it, because the import
takes longer than a query. The program that embeds rootle, or `telemetry/exporter.py`, imports the
API and sets up an SDK. Without an SDK, a `Stage` measures time, events are written to the log, and
nothing is exported.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from contextvars import copy_context
from functools import cache, partial
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from opentelemetry.metrics import Counter, Histogram
    from opentelemetry.metrics import _Gauge as Gauge
    from opentelemetry.trace import Span, Tracer, TracerProvider

_LOG = logging.getLogger(__name__)

REQUESTS: Final = "searchAgent.requests_total"
CACHE_HITS: Final = "searchAgent.cacheHits_total"
NO_RESULTS: Final = "searchAgent.noResults_total"
DENSE_FAILURES: Final = "searchAgent.denseFailures_total"
BUFFERED_INDEX_OPERATIONS: Final = "searchAgent.bufferedIndexOperations"

NO_RECALL: Final = "noRecall"
STALE_INDEX_WARNING: Final = "staleIndexWarning"
DENSE_FALLBACK: Final = "denseFallback"
WATCHER_FAILED: Final = "watcherFailed"

# The spans of the specification with their attributes.
SPANS: Final = {
    "searchAgent.indexFile": ("filePath", "numChunks", "embeddingLatencyMs", "indexLatencyMs"),
    "searchAgent.search": (
        "queryLength",
        "denseHits",
        "sparseHits",
        "totalCandidates",
        "finalResults",
        "totalLatencyMs",
    ),
    "searchAgent.expansion": ("expansionLatencyMs", "expansionModelID"),
    "searchAgent.denseSearch": ("denseLatencyMs", "embeddingModelID"),
    "searchAgent.sparseSearch": ("sparseLatencyMs", "sparseEndpoint"),
    "searchAgent.rerank": ("candidateCount", "rerankLatencyMs", "rerankerModelID"),
}
COUNTERS: Final = (REQUESTS, CACHE_HITS, NO_RESULTS, DENSE_FAILURES)
HISTOGRAMS: Final = ("search.denseLatencyMs", "search.sparseLatencyMs", "search.rerankLatencyMs")
METRICS: Final = (*COUNTERS, *HISTOGRAMS, BUFFERED_INDEX_OPERATIONS)
EVENTS: Final = (NO_RECALL, STALE_INDEX_WARNING, DENSE_FALLBACK)

_API: Final = frozenset({"opentelemetry.trace", "opentelemetry.metrics"})
_SCOPE: Final = "rootle"

_Result = TypeVar("_Result")


class Stage:
    """Context manager that measures one step of a search and exports it as a span.

    `ms` is the duration in milliseconds, available after the `with` block.
    """

    def __init__(self, name: str, latency: str, **attributes: str | int | float) -> None:
        self.ms = 0.0
        self.events: list[str] = []
        self._name = name
        self._latency = latency
        self._attributes = attributes
        self._open: AbstractContextManager[Span] | None = None
        self._span: Span | None = None

    def __enter__(self) -> Self:
        tracer = _tracer()
        if tracer is not None:
            # The message of an error may contain words of the question, so `__exit__` records only
            # the type of the error.
            self._open = tracer.start_as_current_span(
                self._name, record_exception=False, set_status_on_exception=False
            )
            self._span = self._open.__enter__()
        self._started = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ms = round((time.perf_counter() - self._started) * 1000, 3)
        if (histogram := f"search.{self._latency}") in HISTOGRAMS:
            _record(histogram, self.ms)
        if self._span is None or self._open is None:
            return
        self._span.set_attributes({**self._attributes, self._latency: self.ms})
        if kind is not None:
            from opentelemetry.trace import StatusCode

            self._span.set_status(StatusCode.ERROR, kind.__name__)
        self._open.__exit__(None, None, None)

    def set_attributes(self, **attributes: str | int | float) -> None:
        """Set attributes of the span. They are added to it when the stage ends."""
        self._attributes.update(attributes)

    def wrap(self, function: Callable[[], _Result]) -> Callable[[], _Result]:
        """Return a function that runs `function` as this stage. Any thread may call it.

        The span of the stage becomes a child of the span that is current when `wrap` is called.
        """

        def run() -> _Result:
            with self:
                return function()

        return run if _tracer() is None else partial(copy_context().run, run)

    def add_event(self, name: str) -> None:
        """Record one of EVENTS."""
        self.events.append(name)
        _LOG.info("%s", name)
        if self._span is not None:
            self._span.add_event(name)


def search_stage(query_length: int) -> Stage:
    return Stage("searchAgent.search", "totalLatencyMs", queryLength=query_length)


def expansion_stage(model: str) -> Stage:
    return Stage("searchAgent.expansion", "expansionLatencyMs", expansionModelID=model)


def dense_stage(embedding_model_id: str) -> Stage:
    return Stage("searchAgent.denseSearch", "denseLatencyMs", embeddingModelID=embedding_model_id)


def sparse_stage(endpoint: str) -> Stage:
    return Stage("searchAgent.sparseSearch", "sparseLatencyMs", sparseEndpoint=endpoint)


def rerank_stage(reranker_model_id: str | None = None) -> Stage:
    model = {} if reranker_model_id is None else {"rerankerModelID": reranker_model_id}
    return Stage("searchAgent.rerank", "rerankLatencyMs", **model)


def record_indexed_file(path: str, chunks: int, *, embedding_ms: float, index_ms: float) -> None:
    """Record a file that was just written to the index.

    The latencies are in milliseconds. Another process may have computed the embeddings.
    """
    tracer = _tracer()
    if tracer is None:
        return
    ended = time.time_ns()
    span = tracer.start_span(
        "searchAgent.indexFile",
        start_time=ended - int((embedding_ms + index_ms) * 1e6),
        attributes={
            "filePath": path,
            "numChunks": chunks,
            "embeddingLatencyMs": round(embedding_ms, 3),
            "indexLatencyMs": round(index_ms, 3),
        },
    )
    span.end(ended)


def count(counter: str) -> None:
    """Increment one of COUNTERS."""
    if _is_loaded():
        _counter(counter).add(1)


def record_buffered(operations: int) -> None:
    """Record the number of changed files that wait to be indexed."""
    if _is_loaded():
        _gauge(BUFFERED_INDEX_OPERATIONS).set(operations)


def record_watcher_failure(reason: str) -> None:
    """Record, in a span of its own, the fact that a watcher may miss changes or cannot write."""
    _LOG.info("%s: %s", WATCHER_FAILED, reason)
    tracer = _tracer()
    if tracer is not None:
        with tracer.start_as_current_span("rootle.watch") as span:
            span.add_event(WATCHER_FAILED, {"reason": reason})


def _is_loaded() -> bool:
    return sys.modules.keys() >= _API


def _tracer() -> Tracer | None:
    if not _is_loaded():
        return None
    from opentelemetry.trace import get_tracer_provider

    return _get_tracer(get_tracer_provider())


@cache
def _get_tracer(provider: TracerProvider) -> Tracer | None:
    from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider

    has_no_sdk = isinstance(provider, (NoOpTracerProvider, ProxyTracerProvider))
    return None if has_no_sdk else provider.get_tracer(_SCOPE)


def _record(histogram: str, ms: float) -> None:
    if _is_loaded():
        _histogram(histogram).record(ms)


# An instrument that is created before the SDK is set up starts recording when the SDK is set up.


@cache
def _counter(name: str) -> Counter:
    from opentelemetry.metrics import get_meter

    return get_meter(_SCOPE).create_counter(name)


@cache
def _histogram(name: str) -> Histogram:
    from opentelemetry.metrics import get_meter

    return get_meter(_SCOPE).create_histogram(name, unit="ms")


@cache
def _gauge(name: str) -> Gauge:
    from opentelemetry.metrics import get_meter

    return get_meter(_SCOPE).create_gauge(name)
