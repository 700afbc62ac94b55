"""Questions about code, answered from the code alone and from all sources together.

    python -m benchmarks.quality.all_sources REPOS WORK [--packages DIR] [--commits N]
        [--split tune|test] [--only scrapy] [--json FILE]

REPOS holds one checkout with its whole history for each entry of `labels/repositories.json`. Each
repository gets two indexes in WORK. The first contains only its files. The second contains its
files, its newest commits, the packages that it names, the documents of another repository as an
added source, and memories. DIR holds the installed packages, in one folder for each repository that
has any: `node_modules`, a virtual environment in `.venv`, the crates of
`cargo vendor --versioned-dirs`, or a module cache of Go. Each question is asked once in
each index, in alternating order, without the answer cache.

The difference in NDCG@10 by span is "all sources" minus "code alone". A ratio of times is the
median over the questions of a repository, averaged over repositories. The intervals resample
repositories; for NDCG, they also resample the questions in them.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.common.arguments import COMMITS, JSON, ONLY, REPOS, SPLIT, WORK, command_parser
from benchmarks.common.labels import LabeledRepository, labeled_repositories
from benchmarks.common.metrics import TOP_K, Answer
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import make_hit
from benchmarks.common.statistics import (
    Interval,
    cluster_interval,
    mean,
    percentile_interval,
    resampled_rows,
)
from benchmarks.quality.label_scores import score_answer
from rootle import App, Config, SearchQuery, SearchResponse, open_app
from rootle.errors import QueryError

FACTS: Final = Path(__file__).parents[1] / "memory" / "facts.jsonl"
FACT_COUNT: Final = 100
OUTSIDE_KINDS: Final = ("history", "deps", "web")
CODE: Final = Config(
    max_history_commits=0,
    dependencies="off",
    include_memories=False,
    enable_cache=False,
    search_log=False,
)
ALL: Final = Config(enable_cache=False, search_log=False)
# Asked before the labeled questions: the first question loads the index.
FIRST_QUESTIONS: Final = ("read the configuration file", "where are errors handled")
DRAWS: Final = 10_000
_DOCUMENTS: Final = (".md", ".rst", ".txt", ".adoc")
_WORK: Final = WORK.with_settings(help="folder for the indexes")


@dataclass(frozen=True)
class Reply:
    """The response to one question, and the time that it took."""

    response: SearchResponse
    wall_ms: float
    cpu_ms: float  # processor time of all threads of this process


@dataclass(frozen=True)
class Comparison:
    """One question, answered from the code alone and from all sources."""

    query: str
    has_answer: bool
    code_ndcg: float
    all_ndcg: float
    outside: tuple[str, ...]  # the kinds of results that are not files of the project
    memories: int
    code_ms: tuple[float, float]  # wall-clock time and processor time
    all_ms: tuple[float, float]


def main() -> None:
    parser = command_parser(
        __doc__, REPOS, _WORK, SPLIT, ONLY, COMMITS.with_settings(default=1_000), JSON
    )
    parser.add_argument("--packages", type=Path, metavar="DIR", help="installed packages")
    args = parser.parse_args()
    work = args.work.resolve()
    for name in ("CACHE", "DATA", "STATE", "CONFIG"):
        os.environ[f"XDG_{name}_HOME"] = os.fspath(work / name.lower())
    every = labeled_repositories(args.repos)
    chosen = {one.name for one in labeled_repositories(args.repos, args.split, args.only)}
    found: dict[str, list[Comparison]] = {}
    for at, repository in enumerate(every):
        if repository.name in chosen:
            other = every[(at + 1) % len(every)]
            packages = args.packages / repository.name if args.packages else None
            config = replace(ALL, max_history_commits=args.commits)
            with open_both(repository, other, work, config, packages) as apps:
                found[repository.name] = compare(repository, *apps)
            print(format_row(repository.name, found[repository.name]), flush=True)
    figures = summarize(found)
    print(json.dumps(figures, indent=2))
    rows = {name: [asdict(row) for row in rows] for name, rows in found.items()}
    write_json(args.json, {"figures": figures, "questions": rows})


@contextmanager
def open_both(
    repository: LabeledRepository,
    other: LabeledRepository,
    work: Path,
    config: Config,
    packages: Path | None,
) -> Iterator[tuple[App, App]]:
    """Yield an app that has indexed the files of a repository, and an app with all sources."""
    name, root = repository.name, repository.root
    if packages is not None and packages.is_dir():
        folders = [packages, packages / "node_modules", packages / ".venv"]
        existing = tuple(os.fspath(folder.resolve()) for folder in folders if folder.is_dir())
        config = replace(config, dependency_folders=existing)
    with (
        open_app(root, index_dir=work / "code" / name, config=CODE) as code,
        open_app(root, index_dir=work / "all" / name, config=config) as everything,
    ):
        code.index()
        index_all(everything, copy_documents(other, work / "documents" / other.name))
        for question in FIRST_QUESTIONS:
            for app in (code, everything):
                ask(app, question)
        yield code, everything


def index_all(app: App, documents: Path) -> None:
    """Index the files, the commits, the packages and the documents, and store memories."""
    app.index()
    app.index_history()
    try:
        app.index_dependencies()
    except QueryError as error:  # the repository names no packages, or none is installed
        print(f"{app.root.name}: no packages: {error}")
    if not app.sources.list():
        app.sources.add(documents)
        for line in FACTS.read_text("utf-8").splitlines()[:FACT_COUNT]:
            app.memory.remember(json.loads(line)["memory"])


def copy_documents(repository: LabeledRepository, folder: Path) -> Path:
    """Copy the documents of a repository to a folder once; return the folder."""
    if not folder.is_dir():
        for path in sorted(repository.root.rglob("*")):
            relative = path.relative_to(repository.root)
            is_hidden = any(part.startswith(".") for part in relative.parts)
            if path.suffix in _DOCUMENTS and path.is_file() and not is_hidden:
                target = folder / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    return folder


def compare(repository: LabeledRepository, code: App, everything: App) -> list[Comparison]:
    """Ask all questions about a repository."""
    rows = []
    for at, label in enumerate(repository.labels):
        replies: dict[App, Reply] = {}
        for app in (code, everything) if at % 2 else (everything, code):
            replies[app] = ask(app, label.query)
        alone, full = replies[code], replies[everything]
        before, after = (
            score_answer(repository.root, label, Answer(tuple(map(make_hit, reply.results)), 0.0))
            for reply in (alone.response, full.response)
        )
        kinds = {result.kind for result in full.response.results}
        rows.append(
            Comparison(
                label.query,
                bool(label.targets),
                before.span_ndcg if label.targets else 0.0,
                after.span_ndcg if label.targets else 0.0,
                tuple(kind for kind in OUTSIDE_KINDS if kind in kinds),
                len(full.response.memories),
                (alone.wall_ms, alone.cpu_ms),
                (full.wall_ms, full.cpu_ms),
            )
        )
    return rows


def ask(app: App, question: str) -> Reply:
    """Return the first ten results, and the time of the search."""
    wall, cpu = time.perf_counter(), time.process_time()
    response = app.search(SearchQuery(question, limit=TOP_K))
    cpu_ms = (time.process_time() - cpu) * 1000
    return Reply(response, (time.perf_counter() - wall) * 1000, cpu_ms)


def summarize(found: Mapping[str, Sequence[Comparison]]) -> dict[str, Any]:
    """Return the figures over all repositories."""
    rows = [row for one in found.values() for row in one]
    answerable = [row for row in rows if row.has_answer]
    changes = [
        [row.all_ndcg - row.code_ndcg for row in one if row.has_answer] for one in found.values()
    ]
    wall, cpu = (time_ratio(found, which) for which in (0, 1))
    added = [row.all_ms[1] - row.code_ms[1] for row in rows]
    kinds = Counter(kind for row in rows for kind in row.outside)
    return {
        "repositories": len(found),
        "questions": len(rows),
        "with an answer": len(answerable),
        "NDCG@10 by span, code alone": round(mean(row.code_ndcg for row in answerable), 4),
        "NDCG@10 by span, all sources": round(mean(row.all_ndcg for row in answerable), 4),
        "difference": round(mean(value for one in changes for value in one), 4),
        "difference, 95 % interval": _round(cluster_interval(changes)),
        "answers with other results than files": sum(bool(row.outside) for row in rows),
        "of these": dict(kinds),
        "answers with memories": sum(bool(row.memories) for row in rows),
        "ratio of search time": wall[0],
        "ratio of search time, 95 % interval": wall[1],
        "ratio of processor time": cpu[0],
        "ratio of processor time, 95 % interval": cpu[1],
        "milliseconds of processor time, code alone": _median(row.code_ms[1] for row in rows),
        "milliseconds of processor time, added": _median(added),
    }


def time_ratio(found: Mapping[str, Sequence[Comparison]], which: int) -> tuple[float, Interval]:
    """Return the ratio of the time with all sources to the time without them, and its interval.

    The median over the questions of a repository is hardly affected by interruptions.
    """
    ratios = [
        float(np.median([row.all_ms[which] / row.code_ms[which] for row in one]))
        for one in found.values()
    ]
    drawn = resampled_rows(len(ratios), DRAWS, 1)
    means = np.asarray(ratios)[drawn].mean(axis=1)
    return round(mean(ratios), 3), _round(percentile_interval(means), 3)


def _median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 2)


def _round(interval: Interval, digits: int = 4) -> Interval:
    return round(interval[0], digits), round(interval[1], digits)


def format_row(name: str, rows: Sequence[Comparison]) -> str:
    """Return one line of figures of a repository."""
    f = summarize({name: list(rows)})
    return (
        f"{name:12} NDCG@10 by span {f['NDCG@10 by span, code alone']:.3f} -> "
        f"{f['NDCG@10 by span, all sources']:.3f}  other results in "
        f"{f['answers with other results than files']} of {f['questions']} {f['of these']}  "
        f"time x{f['ratio of search time']:.2f}  processor x{f['ratio of processor time']:.2f}"
    )


if __name__ == "__main__":
    main()
