"""A watched index: how soon a save is found, what a checkout costs questions, what idling costs.

    python -m benchmarks.speed.watch_latency FOLDER [--saves N] [--files N] [--idle SECONDS] [--json FILE]

FOLDER is a git work tree, the larger the better; it is copied first and left as it is. A
`rootle watch` of its own watches the copy, and this process asks. The targets stand beside the
figures; a machine that is busy with something else misses them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.speed.processes import resident_bytes
from benchmarks.speed.queries import QUESTIONS
from rootle import App, Config, open_app
from rootle.indexing.watch.watcher_channel import WatcherChannel

CONFIG = {"searchAgent": {"maxChunksPerFile": 0}}
PATIENCE_S = 600.0
TICKS = os.sysconf("SC_CLK_TCK")
Figures = dict[str, float]


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        place = Path(folder)
        root = place / "tree"
        shutil.copytree(args.folder, root, symlinks=True)
        (place / "config.json").write_text(json.dumps(CONFIG))
        figures = measure(root, place / "index", place / "config.json", args)
    for name, value in figures.items():
        print(f"{name:52} {value:10.3f}")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--saves", type=int, default=10)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--idle", type=float, default=60.0)
    parser.add_argument("--scratch", type=Path, help="where the copy lies")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def measure(root: Path, index: Path, config: Path, args: argparse.Namespace) -> Figures:
    branches(root, args.files)
    settings = Config(max_chunks_per_file=0)
    with (
        watching(root, index, config) as pid,
        open_app(root, index_dir=index, config=settings) as app,
    ):
        until(lambda: is_fresh(app), "the first index")
        figures: Figures = {"chunks": app.status().chunks}
        figures |= idle(pid, args.idle)
        figures |= saves(root, app, args.saves)
        figures |= checkout(root, app)
        until(lambda: is_fresh(app), "rest")
        figures |= {f"after all that, {name}": value for name, value in idle(pid, 10.0).items()}
    return figures


def branches(root: Path, count: int) -> None:
    """Two branches that differ in so many files; the first one is checked out."""
    for branch in ("old", "new"):
        git(root, "checkout", "-qb", branch)
        for number in range(count):
            path = root / "many" / str(number % 100) / f"part_{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            name = f"{branch}_part_{number}"
            path.write_text(f'def {name}(value):\n    """Part {number}."""\n    return value\n' * 5)
        git(root, "add", ".")
        git(root, "commit", "-qm", branch)
    git(root, "checkout", "-q", "old")


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True)


@contextmanager
def watching(root: Path, index: Path, config: Path) -> Iterator[int]:
    command = [sys.executable, "-m", "rootle", "watch", root]
    process = subprocess.Popen([*command, "--index-dir", index, "--config", config])
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def is_fresh(app: App) -> bool:
    state = WatcherChannel(app.index_dir).read_state()
    return state is not None and state.is_ready and not state.waiting


def generation_of(app: App) -> int:
    state = WatcherChannel(app.index_dir).read_state()
    return -1 if state is None else state.generation


def until(condition: Callable[[], bool], what: str) -> float:
    """Seconds until a condition held."""
    started = time.perf_counter()
    while not condition():
        if time.perf_counter() - started > PATIENCE_S:
            sys.exit(f"it did not happen within {PATIENCE_S} s: {what}")
        time.sleep(0.02)
    return time.perf_counter() - started


def idle(pid: int, seconds: float) -> Figures:
    time.sleep(5)  # what the batch before left to do
    before = cpu_s(pid)
    time.sleep(seconds)
    return {
        f"idle {seconds:g} s: CPU, s": cpu_s(pid) - before,
        f"idle {seconds:g} s: resident memory, MB (< 250)": resident_bytes(pid) / 1e6,
    }


def cpu_s(pid: int) -> float:
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / TICKS


def saves(root: Path, app: App, count: int) -> Figures:
    """Save a file, then ask again and again until it is found."""
    files = sorted(path for path in root.rglob("*.py") if ".git" not in path.parts)
    chosen = random.Random(7).sample(files, count)
    asked, told = [], []
    updates: list[float] = []
    for number, path in enumerate(chosen):
        app.search(QUESTIONS[number % len(QUESTIONS)])
        name = f"quagga_{number}_{random.Random(number).getrandbits(40):x}"
        generation = generation_of(app)
        with path.open("a") as file:
            file.write(f"\ndef {name}(): ...\n")
        started = time.perf_counter()
        if number % 2:
            until(lambda name=name: found(app, name), name)
            asked.append(time.perf_counter() - started)
        else:
            until(lambda before=generation: generation_of(app) > before, name)
            told.append(time.perf_counter() - started)
            updates.append(found(app, name))
    assert all(updates)
    return {
        "saved, then indexed with nobody asking: median, s (< 1)": statistics.median(told),
        "  longest, s": max(told),
        "saved, then found by asking again and again: median, s": statistics.median(asked),
        "  longest, s ": max(asked),
    }


def found(app: App, name: str) -> bool:
    results = app.search(name).results
    return bool(results) and name in results[0].snippet


def checkout(root: Path, app: App) -> Figures:
    """Questions one after the other while a checkout changes thousands of files."""
    git(root, "commit", "-qam", "saves")
    until(lambda: is_fresh(app), "rest")
    times: list[float] = []
    degraded: list[bool] = []
    is_over = threading.Event()

    def ask() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            started = time.perf_counter()
            response = app.search(f"{QUESTIONS[number % len(QUESTIONS)]} {number}")
            times.append(time.perf_counter() - started)
            degraded.append("stale" in response.degraded)

    asking = threading.Thread(target=ask)
    asking.start()
    started = time.perf_counter()
    git(root, "checkout", "-q", "new")
    switched = time.perf_counter() - started
    until(lambda: "stale" in app.search("any").degraded, "noticed")
    until(lambda: "stale" not in app.search("any").degraded, "fresh")
    fresh = time.perf_counter() - started
    is_over.set()
    asking.join()
    assert found(app, "new_part_17")
    return {
        "checkout itself, s": switched,
        "checkout to fresh, s (< 60)": fresh,
        "questions meanwhile": len(times),
        "  that said they were stale": sum(degraded),
        "  median, s": statistics.median(times),
        "  longest, s (< 1)": max(times),
    }


if __name__ == "__main__":
    main()
