"""Compare the speed of two versions of rootle on one folder.

    python -m benchmarks.speed.paired_versions ROOT BEFORE AFTER [--rounds N] [--json FILE]

BEFORE and AFTER are the Python interpreters of two environments, each with one version of rootle.
Every round measures each task once with both versions, in alternating order, so that other load on
the machine affects them alike. The ratio of a task is the median over all rounds of AFTER's time
divided by BEFORE's, with its 95 % bootstrap interval. One file of ROOT is edited and restored.
"""

from __future__ import annotations

import random
import resource
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.common.arguments import JSON, ROOT, ROUNDS, command_parser
from benchmarks.common.reports import write_json
from benchmarks.common.statistics import Interval, percentile_interval
from benchmarks.speed.processes import run_command
from benchmarks.speed.queries import SENTENCES
from benchmarks.speed.race import (
    COMMENT_OF,
    EDIT_TEXT,
    edit_marker,
    file_to_edit,
    restore_after,
    run_search,
    warm_figures,
)
from benchmarks.speed.tools import Rootle

DRAWS = 5_000
HELP_RUNS = 5  # per round, because a single run takes only milliseconds

# Maps each task to one time per round, in seconds ("warm query": in milliseconds).
Times = dict[str, list[float]]


def main() -> None:
    parser = command_parser(__doc__, ROOT, ROUNDS.with_settings(default=10), JSON)
    parser.add_argument("before", type=Path, metavar="BEFORE", help="Python of one version")
    parser.add_argument("after", type=Path, metavar="AFTER", help="Python of the other version")
    args = parser.parse_args()
    root = args.root.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        versions = []
        for name, python in (("before", args.before), ("after", args.after)):
            folder = Path(scratch, name)
            folder.mkdir()
            versions.append(Rootle(root, folder, {}, python.absolute()))
        times = measure_rounds(versions, file_to_edit(root), args.rounds)
    print(report(*times))
    if args.json:
        write_json(args.json, {"before": times[0], "after": times[1]})


def measure_rounds(versions: Sequence[Rootle], edited: Path, rounds: int) -> list[Times]:
    """Return the times of each version."""
    times: list[Times] = [defaultdict(list) for _ in versions]
    for number in range(rounds):
        order = range(len(versions)) if number % 2 == 0 else reversed(range(len(versions)))
        positions = list(order)
        search = partial(new_process, query=SENTENCES[number % len(SENTENCES)])
        for measure in (first_index, help_text, search, warm_query):
            for position in positions:
                for task, value in measure(versions[position]).items():
                    times[position][task].append(value)
        with edit(edited, edit_marker(number)):
            for position in positions:
                seconds = search_for(versions[position], edit_marker(number))
                times[position]["search after one edit"].append(seconds)
        for version in versions:
            run_search(version, "default settings")  # index the restored file
    return times


def first_index(version: Rootle) -> Mapping[str, float]:
    version.delete_index()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run_command(version.index(), version.env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"first index": done.seconds, "first index, CPU": cpu}


def help_text(version: Rootle) -> Mapping[str, float]:
    runs = [run_command(version.help(), version.env).seconds for _ in range(HELP_RUNS)]
    return {"rootle --help": statistics.median(runs)}


def new_process(version: Rootle, query: str) -> Mapping[str, float]:
    return {"search, new process": run_search(version, query).seconds}


def warm_query(version: Rootle) -> Mapping[str, float]:
    figures = warm_figures(version)
    assert figures is not None
    return {"warm query": statistics.median(figures["ms"])}


@contextmanager
def edit(path: Path, marker: str) -> Iterator[None]:
    """Add a comment with a word that occurs nowhere else to the middle of a file."""
    lines = path.read_bytes().split(b"\n")
    lines.insert(len(lines) // 2, f"{COMMENT_OF[path.suffix]} {marker} {EDIT_TEXT}".encode())
    with restore_after(path):
        path.write_bytes(b"\n".join(lines))
        yield


def search_for(version: Rootle, marker: str) -> float:
    """Return the seconds that a search for an edit takes; exit if it misses the edit."""
    done = run_search(version, marker)
    if f"{marker} {EDIT_TEXT}" not in done.output:
        sys.exit(f"{version.program[0]} does not find the edit {marker} in {version.root}")
    return done.seconds


def measure_ratio(before: Sequence[float], after: Sequence[float]) -> tuple[float, Interval]:
    """Return the median ratio of the rounds and its 95 % bootstrap interval."""
    ratios = [new / old for old, new in zip(before, after, strict=True)]
    rng = random.Random(1)
    draws = [statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(DRAWS)]
    return statistics.median(ratios), percentile_interval(draws)


def report(before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]) -> str:
    """Return a table with one task per row."""
    lines = [f"{'task':<24} {'before':>8} {'after':>8} {'ratio':>6}  95 % interval"]
    for task, old in before.items():
        ratio, (low, high) = measure_ratio(old, after[task])
        lines.append(
            f"{task:<24} {statistics.median(old):>8.3f} {statistics.median(after[task]):>8.3f} "
            f"{ratio:>6.3f}  {low:.3f} to {high:.3f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
