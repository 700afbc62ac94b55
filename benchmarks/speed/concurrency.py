"""Many questions at once, and questions while the embedding hangs: percentiles in milliseconds.

    python -m benchmarks.speed.concurrency ROOT [--index-dir DIR] [--config FILE] [--json FILE]
        [--threads 100] [--rounds 5]

Each round asks as many different questions as there are threads, all let go at the same moment:
first with the cache of answers empty, then again with it warm. Nothing else was asked before but
the warm-up questions. Then fifty questions are put, one after the other, to an embedding server
that accepts and never answers; those that are asked before the circuit breaker opens stand apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.speed.queries import QUESTIONS, WARM_UP
from rootle import App, Config, SearchQuery, open_app
from rootle.config.loading import load_config
from rootle.search.agent import SearchAgent

TOP_K = 10
DOWN_QUESTIONS = 50
OPENS_AFTER = 3


def main() -> None:
    args = parse_arguments()
    config = load_config(args.config)[0] if args.config else Config()
    with open_app(args.root, index_dir=args.index_dir, config=config) as app:
        app.refresh()
        for question in WARM_UP:
            app.search(question)
        cold: list[float] = []
        warm: list[float] = []
        for number in range(args.rounds):
            asked = different_questions(args.threads, number)
            cold += all_at_once(app, asked)
            warm += all_at_once(app, asked)
        before, after = while_it_hangs(app)
        report = {
            "chunks": app.status().chunks,
            "threads": args.threads,
            "cold": percentiles(cold),
            "warm": percentiles(warm),
            "hangingBeforeTheBreakerOpens": percentiles(before),
            "hangingAfter": percentiles(after),
        }
    print(json.dumps(report, indent=1))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("root", type=Path, metavar="ROOT")
    parser.add_argument("--index-dir", type=Path)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--threads", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def different_questions(count: int, number: int) -> list[str]:
    """As many questions, none of which was in an earlier round."""
    pairs = [f"{one} {other}" for one in QUESTIONS for other in QUESTIONS if one != other]
    return pairs[number * count : (number + 1) * count]


def all_at_once(app: App, questions: Sequence[str]) -> list[float]:
    """How long each took, from the moment that all were let go."""
    gate, times = threading.Barrier(len(questions) + 1), [0.0] * len(questions)
    started = [0.0]

    def ask(at: int) -> None:
        gate.wait()
        app.search(SearchQuery(questions[at], limit=TOP_K))
        times[at] = (time.perf_counter() - started[0]) * 1000

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(len(questions))]
    for thread in threads:
        thread.start()
    started[0] = time.perf_counter()
    gate.wait()
    for thread in threads:
        thread.join()
    return times


class Hanging:
    """An embedder whose server accepts and never answers."""

    fingerprint, dimensions = "hanging", 0

    def embed(self, texts: Sequence[str]) -> object:
        time.sleep(3_600)
        return texts


def while_it_hangs(app: App) -> tuple[list[float], list[float]]:
    """The times of the questions before the breaker opens, and of those after it."""
    agent = SearchAgent(app._container.indexer().snapshot, Hanging, app.config)  # noqa: SLF001 - no other way in
    asked = [timed(agent.search, SearchQuery(f"{q} once more")) for q in QUESTIONS[:DOWN_QUESTIONS]]
    agent.close()
    return asked[:OPENS_AFTER], asked[OPENS_AFTER:]


def timed(ask: Callable[[SearchQuery], object], query: SearchQuery) -> float:
    started = time.perf_counter()
    ask(query)
    return (time.perf_counter() - started) * 1000


def percentiles(times: Sequence[float]) -> dict[str, float]:
    return {
        "p50": round(statistics.median(times), 1),
        "p95": round(sorted(times)[int(0.95 * (len(times) - 1))], 1),
        "max": round(max(times), 1),
    }


if __name__ == "__main__":
    main()
