"""Latency of many concurrent queries, and of queries while the embedding server hangs.

    python -m benchmarks.speed.concurrency ROOT [--index-dir DIR] [--config FILE] [--json FILE]
        [--threads 100] [--rounds 5]

Each round asks as many different queries as there are threads, all released at the same moment:
first with an empty answer cache, then again with a warm one. Before the first round, only a few
other queries are asked, to warm up the process. After the last round, fifty queries are asked one
after the other while the embedding server accepts connections but never answers; queries before the
circuit breaker opens are reported separately. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.common.arguments import CONFIG, INDEX_DIR, JSON, ROOT, ROUNDS, command_parser
from benchmarks.common.internals import open_agent
from benchmarks.common.metrics import TOP_K
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import measure_ms, read_config
from benchmarks.common.statistics import latency_percentiles
from benchmarks.speed.queries import QUERIES, WARM_UP
from rootle import App, Config, SearchQuery, open_app
from rootle.protocols import Matrix

HANGING_QUERIES = 50
FAILURES_TO_OPEN = 3  # number of failures after which the circuit breaker opens


def main() -> None:
    args = parse_arguments()
    config = read_config(args.config) or Config()
    with open_app(args.root, index_dir=args.index_dir, config=config) as app:
        app.refresh()
        for query in WARM_UP:
            app.search(query)
        cold: list[float] = []
        warm: list[float] = []
        for number in range(args.rounds):
            queries = distinct_queries(args.threads, number)
            cold += ask_concurrently(app, queries)
            warm += ask_concurrently(app, queries)
        closed, opened = ask_while_hanging(app)
        report = {
            "chunks": app.status().chunks,
            "threads": args.threads,
            "cold": summarize(cold),
            "warm": summarize(warm),
            "hangingBeforeBreakerOpens": summarize(closed),
            "hangingAfterBreakerOpens": summarize(opened),
        }
    print(json.dumps(report, indent=1))
    write_json(args.json, report)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, ROOT, INDEX_DIR, CONFIG, ROUNDS.with_settings(default=5), JSON)
    parser.add_argument(
        "--threads", type=int, default=100, help="concurrent queries (default: %(default)s)"
    )
    return parser.parse_args()


def distinct_queries(count: int, number: int) -> list[str]:
    """Return the queries of a round, none of which occurs in another round."""
    pairs = [f"{one} {other}" for one in QUERIES for other in QUERIES if one != other]
    return pairs[number * count : (number + 1) * count]


def ask_concurrently(app: App, queries: Sequence[str]) -> list[float]:
    """Return the latency of each query, measured from the moment when all are released."""
    barrier, latencies = threading.Barrier(len(queries) + 1), [0.0] * len(queries)
    started = [0.0]

    def ask(number: int) -> None:
        barrier.wait()
        app.search(SearchQuery(queries[number], limit=TOP_K))
        latencies[number] = (time.perf_counter() - started[0]) * 1000

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(queries))]
    for thread in threads:
        thread.start()
    started[0] = time.perf_counter()
    barrier.wait()
    for thread in threads:
        thread.join()
    return latencies


class HangingEmbedder:
    """An embedder that hangs, as if its server accepted requests but never answered."""

    fingerprint, dimensions = "hanging", 0

    def embed(self, texts: Sequence[str]) -> Matrix:
        time.sleep(3_600)
        return np.zeros((len(texts), 0), np.float32)


def ask_while_hanging(app: App) -> tuple[list[float], list[float]]:
    """Return the latencies before and after the circuit breaker opens."""
    agent = open_agent(app, app.config, open_embedder=HangingEmbedder)
    latencies = [
        measure_ms(partial(agent.search, SearchQuery(f"{query} once more")))[1]
        for query in QUERIES[:HANGING_QUERIES]
    ]
    agent.close()
    return latencies[:FAILURES_TO_OPEN], latencies[FAILURES_TO_OPEN:]


def summarize(latencies: Sequence[float]) -> dict[str, float]:
    """Return median, 95th percentile and maximum, to a tenth of a millisecond."""
    median, p95 = latency_percentiles(latencies)
    return {"p50": round(median, 1), "p95": round(p95, 1), "max": round(max(latencies), 1)}


if __name__ == "__main__":
    main()
