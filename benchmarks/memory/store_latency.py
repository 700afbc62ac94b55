"""Speed and memory of the embedded store of memories.

    python -m benchmarks.memory.store_latency [--memories 10000] [--json FILE]

Sentences of words that are as unevenly common as in a language are told one by one; then a new
process opens the file and asks for topics of three to eight words, each once. "After an addition"
is the first recall that has to see what was just told. Times are those of the clock and, since
another program may have had the processor meanwhile, of the processor.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from rootle.embed.static import StaticEmbedder
from rootle.memory.embedded import EmbeddedMemory
from rootle.models.shipped import STATIC_CODE_V1, model_file

USER, TOP_K = "somebody", 7
QUESTIONS, ADDITIONS = 300, 30
BETWEEN_S = 60.0  # so that neighbours help each other, as they do in a conversation
ROWS = (
    ("told, a second", "toldASecond", "{:,.0f}"),
    ("file, MB", "fileMb", "{:.1f}"),
    ("first recall of a process, ms", "first", "{:.0f}"),
    ("recall, median ms", "median", "{:.1f}"),
    ("recall, 95th of 100, ms", "p95", "{:.1f}"),
    ("recall after an addition, median ms", "afterAddition", "{:.1f}"),
    ("memory of the process before, MB", "beforeMb", "{:.0f}"),
    ("memory of the process with them, MB", "withMb", "{:.0f}"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)  # the second process
    args = parser.parse_args()
    if args.ask:
        print(json.dumps(asked(args.ask)))
        return
    with tempfile.TemporaryDirectory(prefix="memories-") as folder:
        path = Path(folder, "memories.db")
        figures = {"memories": args.memories, **told(path, args.memories)}
        command = [sys.executable, "-m", "benchmarks.memory.store_latency", "--ask", str(path)]
        child = subprocess.run(command, capture_output=True, text=True, check=True)
        figures |= json.loads(child.stdout)
    print(f"{args.memories:,} memories{'':32}processor")
    for label, key, form in ROWS:
        values = [figures[key]] if key in figures else figures[f"{key}Ms"]
        print(f"{label:38}" + "".join(f"{form.format(value):>10}" for value in values))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n")


def told(path: Path, count: int) -> dict[str, float]:
    now = time.time() - count * BETWEEN_S
    store = EmbeddedMemory(path, StaticEmbedder, clock=lambda: now)
    started = time.perf_counter()
    for sentence in sentences(count, seed=1, words=(8, 25)):
        now += BETWEEN_S
        store.add(sentence, USER)
    seconds = time.perf_counter() - started
    store.close()
    return {"toldASecond": count / seconds, "fileMb": path.stat().st_size / 1e6}


def asked(path: Path) -> dict[str, object]:
    topics = list(sentences(QUESTIONS + ADDITIONS, seed=2, words=(3, 8)))
    news = list(sentences(ADDITIONS, seed=3, words=(8, 25)))
    before = resident_mb()
    store = EmbeddedMemory(path, StaticEmbedder)

    first = ms_of_recall(store, "the first question of all")
    times = [ms_of_recall(store, topic) for topic in topics[:QUESTIONS]]
    after = []
    for sentence, topic in zip(news, topics[QUESTIONS:], strict=True):
        store.add(sentence, USER)
        after.append(ms_of_recall(store, topic))
    store.close()
    return {
        "firstMs": first,
        "medianMs": [statistics.median(kind) for kind in zip(*times, strict=True)],
        "p95Ms": [statistics.quantiles(kind, n=20)[-1] for kind in zip(*times, strict=True)],
        "afterAdditionMs": [statistics.median(kind) for kind in zip(*after, strict=True)],
        "beforeMb": before,
        "withMb": resident_mb(),
    }


def ms_of_recall(store: EmbeddedMemory, topic: str) -> tuple[float, float]:
    """By the clock, and of the processor."""
    started, started_work = time.perf_counter(), time.thread_time()
    store.search(topic, USER, TOP_K)
    done, done_work = time.perf_counter(), time.thread_time()
    return (done - started) * 1000, (done_work - started_work) * 1000


def sentences(count: int, *, seed: int, words: tuple[int, int]) -> Iterator[str]:
    """Always the same ones; the n-th word comes 1/n as often as the first (Zipf)."""
    listed = model_file(STATIC_CODE_V1, "vocab.txt").read_text(encoding="utf-8").split()
    known = [word for word in listed if word.isascii() and word.isalpha() and len(word) > 2]
    shares = list(accumulate(1 / rank for rank in range(1, len(known) + 1)))
    rng = random.Random(seed)
    for _ in range(count):
        yield " ".join(rng.choices(known, cum_weights=shares, k=rng.randint(*words)))


def resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1e3
    raise RuntimeError("/proc says nothing of this process")


if __name__ == "__main__":
    main()
