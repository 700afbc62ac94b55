"""Time and disk space that are needed to search earlier versions.

    python -m benchmarks.speed.time_travel ROOT [--at 1y] [--json FILE] [--second-branch]

ROOT is a clone with history. Its current files are indexed first. Then the same questions are asked
about the current files and about the revision `--at`. The revision is searched once without any
index, and once with the index of the current files, whose documents the revision reuses.

With `--second-branch`, ROOT may be any folder. Its files are committed to a temporary repository,
and a second branch changes every fiftieth file. Both branches are indexed as revisions.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.arguments import JSON, ROOT, command_parser
from benchmarks.common.git import commit_changes, run_git
from benchmarks.common.reports import write_json
from benchmarks.speed.queries import QUERIES
from rootle import App, Config, SearchQuery, open_app

_ROUNDS = 8
_CHANGED_SHARE = 50  # one of this many files is changed
_CONFIG = Config(enable_cache=False)  # so that a repeated question is answered again


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="rootle-time-travel-") as folder:
        if args.second_branch:
            report = measure_second_branch(Path(args.root), Path(folder))
        else:
            report = measure_revision(Path(args.root), args.at, Path(folder))
    print(json.dumps(report, indent=1))
    write_json(args.json, report)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, ROOT, JSON)
    parser.add_argument("--at", default="1y", help="the revision (default: %(default)s)")
    parser.add_argument(
        "--second-branch", action="store_true", help="measure a branch with 2 %% changed files"
    )
    return parser.parse_args()


def measure_revision(root: Path, at: str, folder: Path) -> dict[str, Any]:
    """Return the times of the first and of later answers at a revision, and its disk space."""
    with open_app(root, index_dir=folder / "new", config=_CONFIG) as app:
        alone_s = measure_s(lambda: app.search(QUERIES[0], at=at))
        alone = app.status().revisions
    with open_app(root, index_dir=folder / "index", config=_CONFIG) as app:
        indexing_s = measure_s(app.index)
        now_ms = measure_answers_ms(app, None)
        reused_s = measure_s(lambda: app.search(QUERIES[0], at=at))
        at_ms = measure_answers_ms(app, at)
        status = app.status()
    assert status.revisions is not None
    assert alone is not None
    return {
        "root": root.name,
        "at": at,
        "sourceMB": round(status.source_bytes / 1e6, 1),
        "chunks": status.chunks,
        "indexingOfFolderS": round(indexing_s, 2),
        "firstAnswerWithoutIndexS": round(alone_s, 2),
        "firstAnswerWithIndexOfFolderS": round(reused_s, 2),
        "answerInFolderMs": round(now_ms, 1),
        "laterAnswerAtRevisionMs": round(at_ms, 1),
        "revisionWithoutIndexMB": round(alone.index_bytes / 1e6, 1),
        "revisionWithIndexOfFolderMB": round(status.revisions.index_bytes / 1e6, 1),
        "indexOfFolderMB": round(status.index_bytes / 1e6, 1),
    }


def measure_second_branch(root: Path, folder: Path) -> dict[str, Any]:
    """Return the time and disk space that a second branch takes after the first one."""
    repository = folder / "repository"
    shutil.copytree(root, repository, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    run_git(repository, "init", "-q", "-b", "main")
    commit_changes(repository, "first")
    change_files(repository)
    run_git(repository, "checkout", "-q", "-b", "second")
    commit_changes(repository, "second")
    run_git(repository, "checkout", "-q", "main")
    with open_app(repository, index_dir=folder / "index", config=_CONFIG) as app:
        indexing_s = measure_s(app.index)
        chunks = app.status().chunks
        first_s = measure_s(lambda: app.search(QUERIES[0], at="main"))
        first = app.status().revisions
        second_s = measure_s(lambda: app.search(QUERIES[0], at="second"))
        second = app.status().revisions
        now_ms, at_ms = measure_answers_ms(app, None), measure_answers_ms(app, "second")
    assert first is not None
    assert second is not None
    return {
        "root": root.name,
        "chunks": chunks,
        "indexingOfFolderS": round(indexing_s, 2),
        "firstBranchS": round(first_s, 2),
        "secondBranchS": round(second_s, 2),
        **second_branch_size(first.index_bytes, second.index_bytes),
        "answerInFolderMs": round(now_ms, 1),
        "answerAtSecondBranchMs": round(at_ms, 1),
    }


def second_branch_size(first_bytes: int, both_bytes: int) -> dict[str, float]:
    """Return the size of the index of one branch, and how much larger it is with both branches."""
    return {
        "firstBranchMB": round(first_bytes / 1e6, 1),
        "secondBranchMoreMB": round((both_bytes - first_bytes) / 1e6, 1),
        "secondBranchMoreShare": round(both_bytes / first_bytes - 1, 4),
    }


def change_files(repository: Path) -> None:
    """Append a line to every fiftieth text file."""
    listed = run_git(repository, "ls-files", "-z").split("\0")
    for path in [path for path in listed if path][::_CHANGED_SHARE]:
        file = repository / path
        if file.is_file() and not file.is_symlink() and b"\0" not in file.read_bytes()[:8192]:
            with file.open("a", encoding="utf-8") as text:
                text.write("\nsecond branch\n")


def measure_answers_ms(app: App, at: str | None) -> float:
    """Return the median time of an answer, in the fastest of several rounds.

    During the first rounds, everything is loaded, and the dates of files may still be read.
    """
    queries = [SearchQuery(question, at=at) for question in QUERIES[:20]]
    rounds = [[measure_s(partial(app.search, query)) for query in queries] for _ in range(_ROUNDS)]
    return 1000 * fastest_median(rounds)


def fastest_median(rounds: Iterable[Sequence[float]]) -> float:
    """Return the lowest of the medians of the rounds."""
    return min(map(median, rounds))


def measure_s(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
