"""Searches with rootle in this process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from benchmarks.common.metrics import TOP_K, Answer, Hit
from rootle import App, Config, SearchQuery, SearchResponse, SearchResult, open_app
from rootle.config.precedence import load_config

Result = TypeVar("Result")


@contextmanager
def index_folder(persistent: Path | None) -> Iterator[Path]:
    """Yield the persistent folder for indexes, or a temporary one that is deleted afterwards."""
    if persistent is not None:
        yield persistent
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)


@contextmanager
def indexed_app(root: Path, index_dir: Path, config: Config | None = None) -> Iterator[App]:
    """Yield an app whose index is current."""
    with open_app(root, index_dir=index_dir, config=config) as app:
        app.index()
        yield app


def read_config(path: Path | None) -> Config | None:
    """Return the configuration in a file, or None if no file is given."""
    return load_config(path)[0] if path else None


def make_hit(result: SearchResult) -> Hit:
    """Return the file and all shown line ranges of a result, the best range first."""
    ranges = [(result.start_line, result.end_line)]
    ranges += [(span.start_line, span.end_line) for span in result.more_spans]
    return Hit(result.file_path, tuple(ranges))


def search_hits(app: App, query: str, limit: int = TOP_K) -> tuple[Hit, ...]:
    """Return the hits of one query, best first."""
    return tuple(map(make_hit, app.search(SearchQuery(query, limit=limit)).results))


def timed_search(app: App, query: str) -> tuple[Answer, SearchResponse]:
    """Return the first ten hits of a query with the search time, and the response itself."""
    response, latency_ms = measure_ms(lambda: app.search(SearchQuery(query, limit=TOP_K)))
    return Answer(tuple(map(make_hit, response.results)), latency_ms), response


def answer_queries(app: App, queries: Iterable[str]) -> list[Answer]:
    """Return the first ten hits of each query with the search time."""
    return [timed_search(app, query)[0] for query in queries]


def measure_ms(call: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of a call and its duration in milliseconds."""
    started = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - started) * 1000
