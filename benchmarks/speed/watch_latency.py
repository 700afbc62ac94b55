"""A watched index: delay until an edit is found, queries during a checkout, cost when idle.

    python -m benchmarks.speed.watch_latency ROOT [--saves N] [--files N] [--idle SECONDS]
        [--scratch DIR] [--json FILE]

ROOT is a git work tree, the larger the better; only a copy of it is changed. A separate `rootle
watch` watches the copy while this process searches. If a figure has a target, the target is printed
next to it; on a busy machine, a figure may miss its target.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.common.arguments import JSON, ROOT, command_parser
from benchmarks.common.git import run_git
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import measure_ms
from benchmarks.speed.processes import cpu_seconds, resident_bytes
from benchmarks.speed.queries import QUERIES
from rootle import App, Config, open_app
from rootle.indexing.watch.watcher_channel import WatcherChannel

CONFIG = {"searchAgent": {"maxChunksPerFile": 0}}
TIMEOUT_S = 600.0
POLL_INTERVAL_S = 0.02
SETTLE_S = 5.0  # waiting time for the last batch of the watcher
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")

Figures = dict[str, float]


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        scratch = Path(folder)
        shutil.copytree(args.root, scratch / "tree", symlinks=True)
        (scratch / "config.json").write_text(json.dumps(CONFIG))
        figures = measure(scratch, args)
    for label, value in figures.items():
        print(f"{label:60} {value:10.3f}")
    write_json(args.json, figures)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, ROOT, JSON)
    parser.add_argument(
        "--saves", type=int, default=10, help="edits to make (default: %(default)s)"
    )
    parser.add_argument(
        "--files", type=int, default=10_000,
        help="files that the checkout changes (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--idle", type=float, default=60.0, metavar="SECONDS",
        help="idle time to measure (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="folder for the copy")
    return parser.parse_args()


def measure(scratch: Path, args: argparse.Namespace) -> Figures:
    """Measure the copy in the scratch folder; return all figures."""
    root, index = scratch / "tree", scratch / "index"
    make_branches(root, args.files)
    with (
        watcher(root, index, scratch / "config.json") as pid,
        open_app(root, index_dir=index, config=Config(max_chunks_per_file=0)) as app,
    ):
        wait_until(lambda: is_current(app), "the first index")
        figures: Figures = {"chunks": app.status().chunks}
        figures |= measure_idle(pid, args.idle)
        figures |= measure_saves(root, app, args.saves)
        figures |= measure_checkout(root, app)
        wait_until(lambda: is_current(app), "a current index")
        idle = measure_idle(pid, 10.0)
        figures |= {f"after the checkout, {label}": value for label, value in idle.items()}
    return figures


def make_branches(root: Path, count: int) -> None:
    """Create two branches that differ in `count` files, and check out the first."""
    for branch in ("old", "new"):
        run_git(root, "checkout", "-qb", branch)
        for number in range(count):
            path = root / "many" / str(number % 100) / f"part_{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            name = f"{branch}_part_{number}"
            path.write_text(f'def {name}(value):\n    """Part {number}."""\n    return value\n' * 5)
        run_git(root, "add", ".")
        run_git(root, *IDENTITY, "commit", "-qm", branch)
    run_git(root, "checkout", "-q", "old")


@contextmanager
def watcher(root: Path, index: Path, config: Path) -> Iterator[int]:
    """Yield the process id of a `rootle watch`."""
    command = [sys.executable, "-m", "rootle", "watch", str(root)]
    process = subprocess.Popen([*command, "--index-dir", str(index), "--config", str(config)])
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def is_current(app: App) -> bool:
    """Return whether the watcher has indexed every change."""
    state = WatcherChannel(app.index_dir).read_state()
    return state is not None and state.is_ready and not state.waiting


def index_generation(app: App) -> int:
    state = WatcherChannel(app.index_dir).read_state()
    return -1 if state is None else state.generation


def is_newer_than(generation: int, app: App) -> bool:
    return index_generation(app) > generation


def wait_until(condition: Callable[[], bool], description: str) -> float:
    """Return the seconds until a condition holds; exit if it does not within ten minutes."""
    started = time.perf_counter()
    while not condition():
        if time.perf_counter() - started > TIMEOUT_S:
            sys.exit(f"no {description} within {TIMEOUT_S} s")
        time.sleep(POLL_INTERVAL_S)
    return time.perf_counter() - started


def measure_idle(pid: int, seconds: float) -> Figures:
    """Return processor time and memory of an idle watcher."""
    time.sleep(SETTLE_S)
    before = cpu_seconds(pid)
    time.sleep(seconds)
    return {
        f"idle {seconds:g} s: CPU, s": cpu_seconds(pid) - before,
        f"idle {seconds:g} s: resident memory, MB (< 250)": resident_bytes(pid) / 1e6,
    }


def measure_saves(root: Path, app: App, count: int) -> Figures:
    """Measure, in turn, the time until an edit is indexed and until repeated queries find it."""
    files = sorted(path for path in root.rglob("*.py") if ".git" not in path.parts)
    found_s, indexed_s = [], []
    for number, path in enumerate(random.Random(7).sample(files, count)):
        app.search(QUERIES[number % len(QUERIES)])
        name = f"quagga_{number}_{random.Random(number).getrandbits(40):x}"
        generation = index_generation(app)
        with path.open("a") as file:
            file.write(f"\ndef {name}(): ...\n")
        if number % 2:
            found_s.append(wait_until(partial(is_found, app, name), name))
        else:
            indexed_s.append(wait_until(partial(is_newer_than, generation, app), name))
            assert is_found(app, name)
    return {
        "edit to indexed, without queries: median, s (< 1)": statistics.median(indexed_s),
        "edit to indexed, without queries: maximum, s": max(indexed_s),
        "edit to found by repeated queries: median, s": statistics.median(found_s),
        "edit to found by repeated queries: maximum, s": max(found_s),
    }


def is_found(app: App, name: str) -> bool:
    """Return whether the first result contains a name."""
    results = app.search(name).results
    return bool(results) and name in results[0].snippet


def measure_checkout(root: Path, app: App) -> Figures:
    """Query continuously while a checkout changes thousands of files."""
    run_git(root, *IDENTITY, "commit", "-qam", "saves")
    wait_until(lambda: is_current(app), "a current index")
    queries = QueryLoop(app)
    queries.start()
    started = time.perf_counter()
    _, checkout_ms = measure_ms(lambda: run_git(root, "checkout", "-q", "new"))
    wait_until(lambda: is_stale(app), "stale answer")
    wait_until(lambda: not is_stale(app), "current answer")
    fresh_s = time.perf_counter() - started
    queries.stop()
    assert is_found(app, "new_part_17")
    return {
        "checkout, s": checkout_ms / 1000,
        "checkout to a current index, s (< 60)": fresh_s,
        **summarize_queries(queries.latencies_s, queries.stale),
    }


def is_stale(app: App) -> bool:
    return "stale" in app.search("any").degraded


class QueryLoop(threading.Thread):
    """Thread that asks different queries until it is stopped."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self.latencies_s: list[float] = []
        self.stale: list[bool] = []
        self._app = app
        self._is_over = threading.Event()

    def run(self) -> None:
        number = 0
        while not self._is_over.is_set():
            number += 1
            text = f"{QUERIES[number % len(QUERIES)]} {number}"
            response, ms = measure_ms(partial(self._app.search, text))
            self.latencies_s.append(ms / 1000)
            self.stale.append("stale" in response.degraded)

    def stop(self) -> None:
        self._is_over.set()
        self.join()


def summarize_queries(latencies_s: Sequence[float], stale: Sequence[bool]) -> Figures:
    """Return the figures on the queries during a checkout."""
    return {
        "queries during the checkout": len(latencies_s),
        "  reported as stale": sum(stale),
        "  median, s": statistics.median(latencies_s),
        "  maximum, s (< 1)": max(latencies_s),
    }


if __name__ == "__main__":
    main()
