"""Spans, counters, latencies and events, under the names of the specification.

All of OpenTelemetry that is used here is its API, and even that is never loaded from here, since it
takes longer to import than a question takes to answer. Whoever listens, the program around rootle
or its command line, has loaded it and set up an SDK. Where nobody has, a stage is a stop watch and
everything else returns at once.
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

# Every span with its attributes. `rerankerModelID` is set where a model reranks.
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
    """One step of a search: `with` measures it, and who listens sees a span.

    `ms` is how long it took, once it is over.
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
            # What an error says may hold words of the question, so only its kind is told, below.
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

    def set(self, **attributes: str | int | float) -> None:
        """Tell what is known by now."""
        self._attributes.update(attributes)

    def around(self, work: Callable[[], _Result]) -> Callable[[], _Result]:
        """The same work as this stage, under the span that is open now, in whichever thread."""

        def staged() -> _Result:
            with self:
                return work()

        return staged if _tracer() is None else partial(copy_context().run, staged)

    def event(self, name: str) -> None:
        """Tell that something happened that is worth counting: one of EVENTS."""
        self.events.append(name)
        _LOG.info("%s", name)
        if self._span is not None:
            self._span.add_event(name)


def search_stage(query_length: int) -> Stage:
    return Stage("searchAgent.search", "totalLatencyMs", queryLength=query_length)


def dense_stage(embedding_model_id: str) -> Stage:
    return Stage("searchAgent.denseSearch", "denseLatencyMs", embeddingModelID=embedding_model_id)


def sparse_stage(endpoint: str) -> Stage:
    return Stage("searchAgent.sparseSearch", "sparseLatencyMs", sparseEndpoint=endpoint)


def rerank_stage(reranker_model_id: str | None = None) -> Stage:
    model = {} if reranker_model_id is None else {"rerankerModelID": reranker_model_id}
    return Stage("searchAgent.rerank", "rerankLatencyMs", **model)


def file_indexed(path: str, chunks: int, *, embedding_ms: float, index_ms: float) -> None:
    """Tell of a file that was just written; whichever process embedded it."""
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
    """Add one to one of COUNTERS."""
    if _is_loaded():
        _counter(counter).add(1)


def record_buffered(operations: int) -> None:
    """Tell how many changed files wait to be indexed."""
    if _is_loaded():
        _gauge(BUFFERED_INDEX_OPERATIONS).set(operations)


def watcher_failed(reason: str) -> None:
    """Tell that a watcher may miss changes or cannot write: nothing is open that it belongs to."""
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

    return _tracer_of(get_tracer_provider())


@cache
def _tracer_of(provider: TracerProvider) -> Tracer | None:
    from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider

    is_deaf = isinstance(provider, (NoOpTracerProvider, ProxyTracerProvider))
    return None if is_deaf else provider.get_tracer(_SCOPE)


def _record(histogram: str, ms: float) -> None:
    if _is_loaded():
        _histogram(histogram).record(ms)


# An instrument that is made before there is an SDK begins to work with the SDK.


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
