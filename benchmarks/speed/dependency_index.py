"""Time and disk space to index the packages that a project depends on.

    python -m benchmarks.speed.dependency_index ROOT [--folders FOLDER ...] [--json FILE]

First the direct packages of ROOT are indexed into a new folder, then all packages into another. The
table shows the time until the index can be searched, its size, the time to list the packages again
if nothing has changed, and the median time of a search. "CPU" is the processor time of this process
and its workers. Other programs affect it less than the elapsed time. `--folders` names environments
outside of ROOT, as `dependencyFolders` does.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, Literal, NamedTuple

from benchmarks.common.arguments import JSON, ROOT, command_parser
from rootle import Config, open_app
from rootle.types.status import DependencyStatus

_QUESTIONS: Final = (
    "parse a version", "read a file in chunks", "convert an array to another type",
    "retry a failed request", "watch a folder for changes", "format a progress bar",
    "lock a file", "validate a field",
)  # fmt: skip


class CallTime(NamedTuple):
    """The elapsed time and the processor time of a call."""

    elapsed_s: float
    cpu_s: float


def main() -> None:
    parser = command_parser(__doc__, ROOT, JSON)
    parser.add_argument("--folders", nargs="*", default=(), help="environments outside of ROOT")
    args = parser.parse_args()
    extents: tuple[Literal["direct", "all"], ...] = ("direct", "all")
    report = {extent: measure(args.root, extent, args.folders) for extent in extents}
    print(json.dumps(report, indent=2))
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


def measure(
    root: Path, extent: Literal["direct", "all"], folders: Sequence[str]
) -> dict[str, float]:
    """Index the packages of a project, and search them."""
    config = Config(
        dependencies=extent,
        dependency_folders=tuple(folders),
        search_log=False,
        include_memories=False,
        enable_cache=False,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        open_app(root, index_dir=Path(folder) / "index", config=config) as app,
    ):
        first = _time(app.index_dependencies)
        status = app.index_dependencies()
        again = _time(app.index_dependencies)
        app.search(f"in:deps {_QUESTIONS[0]}")
        searches = [_time(partial(app.search, f"in:deps {one}")) for one in _QUESTIONS]
        return summarize(status, first, again, searches)


def summarize(
    status: DependencyStatus, first: CallTime, again: CallTime, searches: Sequence[CallTime]
) -> dict[str, float]:
    """Return the rows of the table: counts, megabytes, seconds and milliseconds."""
    return {
        "packages": len(status.packages),
        "not installed": len(status.missing),
        "files": sum(package.files for package in status.packages),
        "MB of the index": round(status.index_bytes / 1e6, 1),
        "seconds to index": round(first.elapsed_s, 1),
        "CPU seconds to index": round(first.cpu_s, 1),
        "ms to list again": round(again.elapsed_s * 1000),
        "CPU ms to list again": round(again.cpu_s * 1000),
        "ms of a search, with listing": round(median(one.elapsed_s for one in searches) * 1000),
        "CPU ms of a search": round(median(one.cpu_s for one in searches) * 1000),
    }


def _time(call: Callable[[], object]) -> CallTime:
    started, used = time.perf_counter(), sum(os.times()[:4])
    call()
    return CallTime(time.perf_counter() - started, sum(os.times()[:4]) - used)


if __name__ == "__main__":
    main()
