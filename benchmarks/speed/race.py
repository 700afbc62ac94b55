"""Measure several tools in turn, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.statistics import latency_percentiles
from benchmarks.speed.processes import CommandError, CompletedCommand, run_command
from benchmarks.speed.queries import QUERIES, WARM_UP
from benchmarks.speed.tools import Rootle, Tool

COMMENTS = {"//": ".c .cc .cpp .cs .go .h .java .js .kt .rs .scala .swift .ts", "#": ".py .rb .sh"}
COMMENT_OF = {suffix: mark for mark, suffixes in COMMENTS.items() for suffix in suffixes.split()}
EDIT_TEXT = "marks the edit of the speed benchmark"

Samples = dict[str, list[Any]]
Figures = Mapping[str, Any]


class Race:
    """Measures the tools in turn. A tool that fails is dropped; its samples so far are kept."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = list(tools)
        self.samples: dict[str, Samples] = {tool.name: defaultdict(list) for tool in tools}

    def measure(self, task: str, measure: Callable[[Tool], Figures | None]) -> None:
        """Measure every tool once and keep the figures."""
        for tool in list(self.tools):
            try:
                for key, value in (measure(tool) or {}).items():
                    self.samples[tool.name][key].append(value)
            except CommandError as error:
                self.samples[tool.name]["failed"].append(f"{task}: {error}")
                self.tools.remove(tool)

    def measure_first(
        self, task: str, times: int, command: Callable[[Tool], list[str] | None]
    ) -> None:
        """Measure a task that starts without an index, and keep the index of the last run."""

        def measure(tool: Tool) -> Figures | None:
            if not (words := command(tool)):
                return None
            tool.delete_index()
            done = run_command(words, tool.env, with_memory=task == "index")
            peak = {"index_peak_mb": done.peak_bytes / 1e6} if done.peak_bytes else {}
            return {f"{task}_s": done.seconds, **peak}

        for _ in range(times):
            self.measure(task, measure)

    def measure_searches(self, queries: Sequence[str]) -> None:
        """Measure each query in a new process per tool."""
        for query in queries:
            self.measure("search", partial(search_figures, query=query))

    def measure_edits(self, path: Path, times: int) -> None:
        """Add a line to the middle of a file and measure the search for it, `times` times."""
        lines = path.read_bytes().split(b"\n")
        half = len(lines) // 2
        with restore_after(path):
            for number in range(times):
                marker = edit_marker(number)
                line = f"{COMMENT_OF[path.suffix]} {marker} {EDIT_TEXT}"
                path.write_bytes(b"\n".join([*lines[:half], line.encode(), *lines[half:]]))
                self.measure("edit", partial(edit_figures, marker=marker))


def edit_marker(number: int) -> str:
    """Return a word that occurs in no corpus; 676 successive numbers give different words."""
    return f"quorv{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}k"


def run_search(tool: Tool, query: str) -> CompletedCommand:
    return run_command(tool.search(query), tool.env)


def search_figures(tool: Tool, query: str) -> Figures:
    return {"search_s": run_search(tool, query).seconds}


def edit_figures(tool: Tool, marker: str) -> Figures:
    """Return the time of a search for an edit, and whether the edit was missed."""
    done = run_search(tool, marker)
    is_missed = f"{marker} {EDIT_TEXT}" not in done.output
    return {"edit_s": done.seconds, "edits_missed": is_missed}


def disk_figures(tool: Tool, source_bytes: int) -> Figures | None:
    """Return the size of the index, or None if the tool has none."""
    if not tool.index():
        return None
    size = sum(path.lstat().st_blocks * 512 for path in walk_files(tool.state_dir))
    figures = {"index_mb": size / 1e6, "index_ratio": size / source_bytes}
    if isinstance(tool, Rootle):
        status = json.loads(run_command(tool.status(), tool.env).output)
        figures["skipped_text_share"] = status["skippedTextShare"]
    return figures


def warm_figures(tool: Tool) -> Figures | None:
    """Return the times of warm queries in one process."""
    if not (command := tool.warm_queries()):
        return None
    request = json.dumps({"warmUp": WARM_UP, "questions": QUERIES})
    output = run_command(command, tool.env, stdin=request).output
    figures: Figures = json.loads(output.splitlines()[-1])
    return figures


def walk_files(root: Path) -> Iterator[Path]:
    """Yield the files below a folder, except those in `.git`, in a fixed order."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (Path(folder, name) for name in sorted(names))


def file_to_edit(root: Path) -> Path:
    """Return the source file of median size, ignoring tests and examples, which rank low."""
    files = [
        path
        for path in walk_files(root)
        if path.suffix in COMMENT_OF
        and not path.is_symlink()
        and not re.search("test|spec|example|mock", str(path.relative_to(root)).lower())
    ]
    if not files:
        sys.exit(f"{root}: no source file to edit")
    files.sort(key=lambda path: (path.stat().st_size, path))
    return files[len(files) // 2]


@contextmanager
def restore_after(path: Path) -> Iterator[None]:
    """Restore the content and the times of a file on exit, even after an error."""
    before, info = path.read_bytes(), path.stat()
    try:
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def summarize(samples: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return the medians of the samples, and the samples themselves."""
    figures: dict[str, Any] = {
        key: statistics.median(values)
        for key, values in samples.items()
        if key not in ("failed", "ms", "chunks", "edits_missed")
    }
    if "edits_missed" in samples:
        figures["edits_missed"] = sum(samples["edits_missed"])
    if "ms" in samples:
        times = [time for run_times in samples["ms"] for time in run_times]
        figures["warm_p50_ms"], figures["warm_p95_ms"] = latency_percentiles(times)
        figures["chunks"] = samples["chunks"][-1]
    if "failed" in samples:
        figures["failed"] = samples["failed"][0]
    return {**figures, "samples": samples}
