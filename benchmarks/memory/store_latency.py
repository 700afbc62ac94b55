"""Speed and memory use of the embedded memory store.

    python -m benchmarks.memory.store_latency [--memories 10000] [--json FILE]

Sentences whose words follow a natural frequency distribution are stored one by one. Then a new
process opens the file and searches once for each of many topics of three to eight words. "Search
after an addition" is the first search after a memory was added. Times are given as wall-clock time
and as processor time, because other programs may use the processor during the run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import JSON, command_parser
from benchmarks.common.reports import write_json
from benchmarks.common.statistics import latency_percentiles
from benchmarks.speed.processes import resident_bytes
from rootle.embed.static import StaticEmbedder
from rootle.memory.sqlite_store import EmbeddedMemory
from rootle.models.shipped import STATIC_CODE_V2, model_file

USER, TOP_K = "user", 7
QUERIES, ADDITIONS = 300, 30
MEMORY_WORDS, TOPIC_WORDS = (8, 25), (3, 8)
# The time between two memories. It is so short that the ranking also gives each memory the terms of
# the memories stored just before and after it.
INTERVAL_S = 60.0
ROWS = (
    ("stored per second", "stored_per_second", "{:,.0f}"),
    ("file, MB", "file_mb", "{:.1f}"),
    ("first search of a process, ms", "first_ms", "{:.0f}"),
    ("search, median ms", "median_ms", "{:.1f}"),
    ("search, 95th percentile ms", "p95_ms", "{:.1f}"),
    ("search after an addition, median ms", "after_addition_ms", "{:.1f}"),
    ("process memory before, MB", "before_mb", "{:.0f}"),
    ("process memory with the store, MB", "with_store_mb", "{:.0f}"),
)

Latency = tuple[float, float]  # wall-clock and processor time, ms


def main() -> None:
    args = parse_arguments()
    if args.measure_searches:
        print(json.dumps(measure_searches(args.measure_searches)))
        return
    with tempfile.TemporaryDirectory(prefix="memories-") as folder:
        path = Path(folder, "memories.db")
        figures: dict[str, Any] = {"memories": args.memories, **fill_store(path, args.memories)}
        command = [sys.executable, "-m", "benchmarks.memory.store_latency"]
        child = subprocess.run(
            [*command, "--measure-searches", str(path)], capture_output=True, text=True, check=True
        )
        figures |= json.loads(child.stdout)
    print(format_figures(figures))
    write_json(args.json, figures)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, JSON)
    parser.add_argument(
        "--memories", type=int, default=10_000, help="number of memories (default: %(default)s)"
    )
    # The command passes this option to its second process.
    parser.add_argument("--measure-searches", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def fill_store(path: Path, count: int) -> dict[str, float]:
    """Store memories; return the rate and the size of the file."""
    now = time.time() - count * INTERVAL_S
    store = EmbeddedMemory(path, StaticEmbedder, clock=lambda: now)
    started = time.perf_counter()
    for sentence in generate_sentences(count, seed=1, words=MEMORY_WORDS):
        now += INTERVAL_S
        store.add(sentence, USER)
    seconds = time.perf_counter() - started
    store.close()
    return {"stored_per_second": count / seconds, "file_mb": path.stat().st_size / 1e6}


def measure_searches(path: Path) -> dict[str, Any]:
    """Open a store in this process; return its latencies and memory use."""
    topics = list(generate_sentences(QUERIES + ADDITIONS, seed=2, words=TOPIC_WORDS))
    additions = list(generate_sentences(ADDITIONS, seed=3, words=MEMORY_WORDS))
    before = resident_mb()
    store = EmbeddedMemory(path, StaticEmbedder)
    first = search_latency(store, "the first question of all")
    latencies = [search_latency(store, topic) for topic in topics[:QUERIES]]
    after_addition = []
    for sentence, topic in zip(additions, topics[QUERIES:], strict=True):
        store.add(sentence, USER)
        after_addition.append(search_latency(store, topic))
    store.close()
    return {
        "first_ms": first,
        **summarize(latencies),
        "after_addition_ms": summarize(after_addition)["median_ms"],
        "before_mb": before,
        "with_store_mb": resident_mb(),
    }


def search_latency(store: EmbeddedMemory, topic: str) -> Latency:
    """Return the wall-clock and processor time of one search."""
    started, started_work = time.perf_counter(), time.thread_time()
    store.search(topic, USER, TOP_K)
    done, done_work = time.perf_counter(), time.thread_time()
    return (done - started) * 1000, (done_work - started_work) * 1000


def summarize(latencies: Sequence[Latency]) -> dict[str, list[float]]:
    """Return median and 95th percentile for both clocks."""
    pairs = [latency_percentiles(clock) for clock in zip(*latencies, strict=True)]
    return {"median_ms": [median for median, _ in pairs], "p95_ms": [p95 for _, p95 in pairs]}


def generate_sentences(count: int, *, seed: int, words: tuple[int, int]) -> Iterator[str]:
    """Yield reproducible sentences; the n-th word is 1/n as frequent as the first (Zipf)."""
    vocabulary = model_file(STATIC_CODE_V2, "vocab.txt").read_text(encoding="utf-8").split()
    known = [word for word in vocabulary if word.isascii() and word.isalpha() and len(word) > 2]
    weights = list(accumulate(1 / rank for rank in range(1, len(known) + 1)))
    rng = random.Random(seed)
    for _ in range(count):
        yield " ".join(rng.choices(known, cum_weights=weights, k=rng.randint(*words)))


def resident_mb() -> float:
    """Return the resident memory of this process in MB."""
    return resident_bytes(os.getpid()) / 1e6


def format_figures(figures: Mapping[str, Any]) -> str:
    """Return one row per figure; latencies have a column for each clock."""
    lines = [f"{figures['memories']:,} memories".ljust(48) + f"{'processor':>10}"]
    for label, key, form in ROWS:
        value = figures[key]
        values = value if isinstance(value, (list, tuple)) else [value]
        lines.append(f"{label:38}" + "".join(f"{form.format(one):>10}" for one in values))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
