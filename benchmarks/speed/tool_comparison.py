"""Speed and memory: rootle beside semble and `git grep`, on the corpora in a folder.

    python -m benchmarks.speed.tool_comparison CORPUS_DIR [--only small,c100,c1000]
        [--peer-python PATH --peer-model DIR] [--runs N] [--json FILE]

CORPUS_DIR holds the folders `small`, `c100` and `c1000` (see `benchmarks/speed/corpora.py`). The tools
take turns, so that what disturbs the machine disturbs them alike; figures are medians. What each
figure is and how to read it: `benchmarks/README.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.speed.processes import CommandError, Run, run
from benchmarks.speed.queries import QUESTIONS, WARM_UP
from benchmarks.speed.tools import GitGrep, Rootle, Semble, Tool

CORPORA = ("small", "c100", "c1000")
WITH_FIRST_SEARCH = ("small",)  # elsewhere it says nothing that the first index does not
CONFIGS = {"c100": {"searchAgent": {"maxChunksPerFile": 0}}}  # all of its text
FIRST_RUNS = {"small": 3}  # how often the first index is made; once elsewhere
WARM_RUNS = 3
COMMENTS = {"//": ".c .cc .cpp .cs .go .h .java .js .kt .rs .scala .swift .ts", "#": ".py .rb .sh"}
COMMENT_OF = {suffix: mark for mark, suffixes in COMMENTS.items() for suffix in suffixes.split()}
ROWS = (
    ("first index, s", "index_s", "{:.2f}"),
    ("  peak memory, MB", "index_peak_mb", "{:.0f}"),
    ("first search ever, s", "first_search_s", "{:.3f}"),
    ("search, new process, s", "search_s", "{:.3f}"),
    ("one file edited, answer, s", "edit_s", "{:.3f}"),
    ("  answers without the edit", "edits_missed", "{:d}"),
    ("warm query p50, ms", "warm_p50_ms", "{:.1f}"),
    ("warm query p95, ms", "warm_p95_ms", "{:.1f}"),
    ("index on disk, MB", "index_mb", "{:.1f}"),
    ("  times the source", "index_ratio", "{:.2f}"),
    ("chunks", "chunks", "{:,}"),
    ("text skipped, share", "skipped_text_share", "{:.3f}"),
)
Figures = dict[str, object]


def main() -> None:
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that an edited file is restored
    report: dict[str, object] = {"machine": machine(), "runs": args.runs, "corpora": {}}
    names = args.only.split(",") if args.only else CORPORA
    missing = [name for name in names if not (args.corpora / name).is_dir()]
    if missing:
        sys.exit(f"no corpus {', '.join(missing)} in {args.corpora}; make it with corpora.py")
    # Indexes are written beside the corpora: the same disk for everyone.
    with tempfile.TemporaryDirectory(prefix="speed-", dir=args.corpora) as scratch:
        report["help"] = measure_help(args, Path(scratch))
        for name in names:
            folder = Path(scratch) / name
            folder.mkdir()
            report["corpora"][name] = measure_corpus(args, name, folder)
            print_corpus(name, report["corpora"][name])
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    if any("failed" in corpus["rootle"] for corpus in report["corpora"].values()):
        sys.exit(1)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("corpora", type=Path, metavar="CORPUS_DIR")
    parser.add_argument("--only", help="some of the corpora (default: small,c100,c1000)")
    parser.add_argument("--runs", type=int, default=9, help="of each short command (default 9)")
    parser.add_argument("--first-runs", type=int, help="of the first index (default: small 3)")
    parser.add_argument("--peer-python", type=Path, help="a Python that has semble")
    parser.add_argument("--peer-model", type=Path, help="its model, a folder")
    parser.add_argument(
        "--peer-on", default="small,c100", help="where the peer runs (default: all but c1000)"
    )
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.peer_python and not args.peer_python.with_name("semble").exists():
        parser.error(f"no semble beside {args.peer_python}")
    args.corpora = args.corpora.absolute()
    return args


def machine() -> dict:
    return {
        "cpus": os.cpu_count(),
        "memoryBytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def tools_for(args: argparse.Namespace, name: str, root: Path, scratch: Path) -> list[Tool]:
    tools: list[Tool] = [Rootle(root, scratch, CONFIGS.get(name, {}))]
    if args.peer_python and name in args.peer_on.split(","):
        tools.append(Semble(root, scratch, args.peer_python, args.peer_model))
    return [*tools, GitGrep(root, scratch)]


def measure_help(args: argparse.Namespace, scratch: Path) -> dict[str, float]:
    """Seconds of `--help`. Before it each tool runs once, so that its own files are in memory."""
    root = scratch / "tiny"
    root.mkdir()
    (root / "tiny.py").write_text('def first_answer():\n    """The first answer."""\n')
    tools = tools_for(args, args.peer_on.split(",")[0], root, scratch)
    for tool in tools:
        run(tool.search("first_answer"), tool.env)
    samples = defaultdict(list)
    for _ in range(args.runs):
        for tool in tools:
            if command := tool.help():
                samples[tool.name].append(run(command, tool.env).seconds)
    medians = {name: statistics.median(seconds) for name, seconds in samples.items()}
    print("--help, s:", ", ".join(f"{name} {value:.3f}" for name, value in medians.items()))
    return medians


def measure_corpus(args: argparse.Namespace, name: str, scratch: Path) -> dict:
    root = args.corpora / name
    files, source_bytes = read_once(root)
    load = os.getloadavg()
    print(f"\n{name}: {files:,} files, {source_bytes / 1e6:,.1f} MB; load before: {load[0]:.2f}")
    race = Race(tools_for(args, name, root, scratch))
    first_runs = args.first_runs or FIRST_RUNS.get(name, 1)
    if name in WITH_FIRST_SEARCH:
        race.first("first_search", first_runs, lambda tool: tool.search(QUESTIONS[0]))
    race.first("index", first_runs, lambda tool: tool.index())
    race.each("disk", lambda tool: disk_figures(tool, source_bytes))
    race.short("search", [QUESTIONS[at * 7 % len(QUESTIONS)] for at in range(args.runs)])
    for _ in range(WARM_RUNS):
        race.each("warm", warm_figures)
    race.edits(edited_file(root), args.runs)
    corpus = {"files": files, "sourceBytes": source_bytes, "load": load}
    return corpus | {tool: summary(samples) for tool, samples in race.samples.items()}


def read_once(root: Path) -> tuple[int, int]:
    """Files and bytes of a corpus; having read them, nobody waits for the disk afterwards."""
    files = [path for path in walk(root) if not path.is_symlink()]
    return len(files), sum(len(path.read_bytes()) for path in files)


def walk(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (Path(folder, name) for name in sorted(names))


class Race:
    """Measures the tools in turns. One that fails is out; its samples so far stay."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = list(tools)
        self.samples: dict[str, dict] = {tool.name: defaultdict(list) for tool in tools}

    def each(self, job: str, measure: Callable[[Tool], Mapping[str, object] | None]) -> None:
        """One turn: what `measure` says of each tool is kept."""
        for tool in list(self.tools):
            try:
                for key, value in (measure(tool) or {}).items():
                    self.samples[tool.name][key].append(value)
            except CommandError as error:
                self.samples[tool.name]["failed"].append(f"{job}: {error}")
                self.tools.remove(tool)

    def first(self, job: str, times: int, command: Callable[[Tool], list[str] | None]) -> None:
        """A job that starts without an index; the last one leaves its index behind."""

        def measure(tool: Tool) -> dict | None:
            if not (words := command(tool)):
                return None
            tool.forget()
            done = run(words, tool.env, with_memory=job == "index")
            peak = {"index_peak_mb": done.peak_bytes / 1e6} if done.peak_bytes else {}
            return {f"{job}_s": done.seconds, **peak}

        for _ in range(times):
            self.each(job, measure)

    def short(self, job: str, questions: Sequence[str]) -> None:
        for question in questions:
            self.each(job, lambda tool, asked=question: {f"{job}_s": timed(tool, asked).seconds})

    def edits(self, path: Path, times: int) -> None:
        """One file gets a new line in its middle, and everyone is asked about it."""
        before = path.read_bytes()
        lines = before.split(b"\n")
        half = len(lines) // 2
        with restored(path):
            for number in range(times):
                marker = f"quorv{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}k"
                line = f"{COMMENT_OF[path.suffix]} {marker} stands here for the speed benchmark"
                path.write_bytes(b"\n".join([*lines[:half], line.encode(), *lines[half:]]))
                self.each("edit", lambda tool, asked=marker: edit_figures(tool, asked))


def timed(tool: Tool, question: str) -> Run:
    return run(tool.search(question), tool.env)


def edit_figures(tool: Tool, marker: str) -> dict:
    done = timed(tool, marker)
    return {"edit_s": done.seconds, "edits_missed": f"{marker} stands here" not in done.output}


def disk_figures(tool: Tool, source_bytes: int) -> dict | None:
    if not tool.index():
        return None
    size = sum(path.lstat().st_blocks * 512 for path in walk(tool.state))
    figures = {"index_mb": size / 1e6, "index_ratio": size / source_bytes}
    if isinstance(tool, Rootle):
        status = json.loads(run(tool.status(), tool.env).output)
        figures["skipped_text_share"] = status["skippedTextShare"]
    return figures


def warm_figures(tool: Tool) -> dict | None:
    if not (command := tool.warm()):
        return None
    asked = json.dumps({"warmUp": WARM_UP, "questions": QUESTIONS})
    return json.loads(run(command, tool.env, stdin=asked).output.splitlines()[-1])


def edited_file(root: Path) -> Path:
    """The source file of the middle size; no test or example, which a ranking may put last."""
    files = [
        path
        for path in walk(root)
        if path.suffix in COMMENT_OF
        and not path.is_symlink()
        and not re.search("test|spec|example|mock", str(path.relative_to(root)).lower())
    ]
    if not files:
        sys.exit(f"{root}: no source file to edit")
    files.sort(key=lambda path: (path.stat().st_size, path))
    return files[len(files) // 2]


@contextmanager
def restored(path: Path) -> Iterator[None]:
    """Whatever happens inside, the file has its old bytes and time afterwards."""
    before, info = path.read_bytes(), path.stat()
    try:
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def summary(samples: Mapping[str, list]) -> Figures:
    """Medians of the samples, and the samples."""
    figures: Figures = {
        key: statistics.median(values)
        for key, values in samples.items()
        if key not in ("failed", "ms", "chunks", "edits_missed")
    }
    if "edits_missed" in samples:
        figures["edits_missed"] = sum(samples["edits_missed"])
    if "ms" in samples:
        times = sorted(time for run_times in samples["ms"] for time in run_times)
        figures["warm_p50_ms"] = statistics.median(times)
        figures["warm_p95_ms"] = statistics.quantiles(times, n=20)[-1]
        figures["chunks"] = samples["chunks"][-1]
    if "failed" in samples:
        figures["failed"] = samples["failed"][0]
    return {**figures, "samples": samples}


def print_corpus(name: str, corpus: Mapping[str, object]) -> None:
    tools = {tool: figures for tool, figures in corpus.items() if isinstance(figures, dict)}
    print(f"{name:28}" + "".join(f"{tool:>12}" for tool in tools))
    for label, key, form in ROWS:
        cells = [form.format(t[key]) if key in t else "–" for t in tools.values()]
        if any(cell != "–" for cell in cells):
            print(f"{label:28}" + "".join(f"{cell:>12}" for cell in cells))
    for tool, figures in tools.items():
        if "failed" in figures:
            print(f"{tool} failed at {figures['failed']}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
