"""Speed and memory use of rootle, semble and `git grep` on the corpora in a folder.

    python -m benchmarks.speed.tool_comparison CORPUS_DIR [--only small,c100,c1000]
        [--peer-python PATH --peer-model DIR] [--runs N] [--json FILE]

CORPUS_DIR holds the folders `small`, `c100` and `c1000` (see `corpora`). The tools take turns, so
that other load on the machine affects them alike; times are medians. `benchmarks/README.md`
explains each figure.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import JSON, RUNS, command_parser, name_list
from benchmarks.common.reports import write_json
from benchmarks.speed.corpora import ONLY_CORPORA
from benchmarks.speed.processes import run_command
from benchmarks.speed.queries import QUERIES
from benchmarks.speed.race import (
    Race,
    disk_figures,
    file_to_edit,
    summarize,
    walk_files,
    warm_figures,
)
from benchmarks.speed.tools import GitGrep, Rootle, Semble, Tool

# The first search, which also builds the index, is measured only here: on larger corpora, nearly
# all of this time is the first index.
WITH_FIRST_SEARCH = ("small",)
CONFIGS: Mapping[str, Mapping[str, object]] = {
    "c100": {"searchAgent": {"maxChunksPerFile": 0}}  # no limit, so that all text is indexed
}
FIRST_RUNS = {"small": 3}  # repetitions of the first index; 1 for the other corpora
WARM_RUNS = 3
ROWS = (
    ("first index, s", "index_s", "{:.2f}"),
    ("  peak memory, MB", "index_peak_mb", "{:.0f}"),
    ("first search ever, s", "first_search_s", "{:.3f}"),
    ("search, new process, s", "search_s", "{:.3f}"),
    ("one file edited, search, s", "edit_s", "{:.3f}"),
    ("  searches that miss the edit", "edits_missed", "{:d}"),
    ("warm query p50, ms", "warm_p50_ms", "{:.1f}"),
    ("warm query p95, ms", "warm_p95_ms", "{:.1f}"),
    ("index on disk, MB", "index_mb", "{:.1f}"),
    ("  ratio to the source", "index_ratio", "{:.2f}"),
    ("chunks", "chunks", "{:,}"),
    ("share of text skipped", "skipped_text_share", "{:.3f}"),
)


def main() -> None:
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # restores an edited file
    missing = [name for name in args.only if not (args.corpora / name).is_dir()]
    if missing:
        sys.exit(f"no corpus {', '.join(missing)} in {args.corpora}; build it with corpora.py")
    corpora: dict[str, dict[str, Any]] = {}
    # Indexes are written next to the corpora: on the same disk for every tool.
    with tempfile.TemporaryDirectory(prefix="speed-", dir=args.corpora) as scratch:
        help_times = measure_help(args, Path(scratch))
        for name in args.only:
            folder = Path(scratch) / name
            folder.mkdir()
            corpora[name] = measure_corpus(args, name, folder)
            print(format_corpus(name, corpora[name]), flush=True)
    report = {"machine": describe_machine(), "runs": args.runs, "corpora": corpora}
    write_json(args.json, {**report, "help": help_times})
    if any("failed" in corpus["rootle"] for corpus in corpora.values()):
        sys.exit(1)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, ONLY_CORPORA, RUNS, JSON)
    parser.add_argument("corpora", type=Path, metavar="CORPUS_DIR", help="folder of the corpora")
    parser.add_argument(
        "--first-runs", type=int, help="runs of the first index (default: 3 on small, else 1)"
    )
    parser.add_argument("--peer-python", type=Path, metavar="PATH", help="semble's Python")
    parser.add_argument("--peer-model", type=Path, metavar="DIR", help="semble's model")
    parser.add_argument(
        "--peer-on", type=name_list, default=["small", "c100"], metavar="NAMES",
        help="corpora for semble (default: all but c1000)",
    )  # fmt: skip
    parser.set_defaults(runs=9)
    args = parser.parse_args()
    if args.peer_python and not args.peer_python.with_name("semble").exists():
        parser.error(f"no semble next to {args.peer_python}")
    args.corpora = args.corpora.absolute()
    return args


def describe_machine() -> dict[str, object]:
    return {
        "cpus": os.cpu_count(),
        "memoryBytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def tools_for(args: argparse.Namespace, name: str, root: Path, scratch: Path) -> list[Tool]:
    """Return the tools to compare on a corpus, each with an empty index."""
    tools: list[Tool] = [Rootle(root, scratch, CONFIGS.get(name, {}))]
    if args.peer_python and name in args.peer_on:
        tools.append(Semble(root, scratch, args.peer_python, args.peer_model))
    return [*tools, GitGrep(root, scratch)]


def measure_help(args: argparse.Namespace, scratch: Path) -> dict[str, float]:
    """Return the median time of `--help` in seconds, by tool.

    Every tool first runs one search, so that its own files are in the page cache.
    """
    root = scratch / "tiny"
    root.mkdir()
    (root / "tiny.py").write_text('def first_answer():\n    """The first answer."""\n')
    tools = tools_for(args, args.peer_on[0], root, scratch)
    for tool in tools:
        run_command(tool.search("first_answer"), tool.env)
    samples = defaultdict(list)
    for _ in range(args.runs):
        for tool in tools:
            if command := tool.help():
                samples[tool.name].append(run_command(command, tool.env).seconds)
    medians = {name: statistics.median(seconds) for name, seconds in samples.items()}
    print("--help, s:", ", ".join(f"{name} {value:.3f}" for name, value in medians.items()))
    return medians


def measure_corpus(args: argparse.Namespace, name: str, scratch: Path) -> dict[str, Any]:
    """Return the figures of every tool on one corpus."""
    root = args.corpora / name
    files, source_bytes = read_corpus(root)
    load = os.getloadavg()
    print(f"\n{name}: {files:,} files, {source_bytes / 1e6:,.1f} MB; load before: {load[0]:.2f}")
    race = Race(tools_for(args, name, root, scratch))
    first_runs = args.first_runs or FIRST_RUNS.get(name, 1)
    if name in WITH_FIRST_SEARCH:
        race.measure_first("first_search", first_runs, lambda tool: tool.search(QUERIES[0]))
    race.measure_first("index", first_runs, lambda tool: tool.index())
    race.measure("disk", lambda tool: disk_figures(tool, source_bytes))
    race.measure_searches([QUERIES[run * 7 % len(QUERIES)] for run in range(args.runs)])
    for _ in range(WARM_RUNS):
        race.measure("warm", warm_figures)
    race.measure_edits(file_to_edit(root), args.runs)
    corpus = {"files": files, "sourceBytes": source_bytes, "load": load}
    return corpus | {tool: summarize(samples) for tool, samples in race.samples.items()}


def read_corpus(root: Path) -> tuple[int, int]:
    """Read a corpus into the page cache; return its numbers of files and bytes."""
    files = [path for path in walk_files(root) if not path.is_symlink()]
    return len(files), sum(len(path.read_bytes()) for path in files)


def format_corpus(name: str, corpus: Mapping[str, Any]) -> str:
    """Return a table with one column per tool, and the failures below it."""
    tools = {tool: figures for tool, figures in corpus.items() if isinstance(figures, dict)}
    lines = [f"{name:28}" + "".join(f"{tool:>12}" for tool in tools)]
    for label, key, form in ROWS:
        cells = [form.format(t[key]) if key in t else "–" for t in tools.values()]
        if any(cell != "–" for cell in cells):
            lines.append(f"{label:28}" + "".join(f"{cell:>12}" for cell in cells))
    lines += [
        f"{tool} failed at {figures['failed']}"
        for tool, figures in tools.items()
        if "failed" in figures
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
