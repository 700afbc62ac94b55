"""Time and disk space to index the newest commits of a repository and to update this index.

    python -m benchmarks.speed.commit_index REPO [--commits N] [--json FILE]

REPO is a git repository. The newest N commits are indexed from scratch. Then one commit is added in
a temporary copy of the repository and indexed. Each query in `queries.SENTENCES` is then answered
from the code, with and without indexed commits, in alternating order.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.common.arguments import COMMITS, JSON, command_parser
from benchmarks.common.git import commit_changes, run_git
from benchmarks.common.reports import write_json
from benchmarks.speed.queries import SENTENCES
from rootle import App, Config, open_app


def main() -> None:
    parser = command_parser(__doc__, COMMITS.with_settings(default=20_000), JSON)
    parser.add_argument("repo", type=Path, metavar="REPO", help="git repository")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="commit-index-") as scratch:
        figures = measure_commits(args.repo.resolve(), args.commits, Path(scratch))
    print(format_figures(figures))
    write_json(args.json, figures)


def measure_commits(repo: Path, commits: int, scratch: Path) -> dict[str, float]:
    """Return the figures of one repository; `scratch` is an empty folder."""
    copy = scratch / "copy"
    run_git(scratch, "clone", "--quiet", "--local", str(repo), str(copy))
    config = Config(max_history_commits=commits, enable_cache=False)
    with open_app(copy, index_dir=scratch / "with", config=config) as app:
        app.index()
        first_s = _time(app.index_history)
        history = app.status().history
        assert history is not None
        (copy / "added-by-benchmark.txt").write_text("one more line\n")
        commit_changes(copy, "Add a file")
        update_s = _time(app.index_history)
        without = Config(max_history_commits=0, enable_cache=False)
        with open_app(copy, index_dir=scratch / "without", config=without) as other:
            other.index()
            ratio = compare_queries(app, other)
    return {
        "commits": history.commits,
        "first_s": first_s,
        "update_s": update_s,
        "index_mb": history.index_bytes / 1e6,
        "git_mb": _measure_size(copy / ".git") / 1e6,
        "query_ratio": ratio,
    }


def compare_queries(app: App, other: App) -> float:
    """Return the median ratio of the times of both apps for the same queries."""
    for one in (app, other):
        for question in SENTENCES:
            one.search(question)
    pairs = []
    for number, question in enumerate(SENTENCES * 3):
        order = (app, other) if number % 2 else (other, app)
        times = {id(one): _time(partial(one.search, question)) for one in order}
        pairs.append((times[id(app)], times[id(other)]))
    return median_ratio(pairs)


def median_ratio(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the median ratio of the first to the second time of each pair."""
    return statistics.median(with_commits / without for with_commits, without in pairs)


def format_figures(figures: Mapping[str, float]) -> str:
    """Return the figures in two lines."""
    return (
        f"{figures['commits']:,.0f} commits in {figures['first_s']:.1f} s, one more in "
        f"{figures['update_s']:.2f} s; {figures['index_mb']:.1f} MB (git folder: "
        f"{figures['git_mb']:.1f} MB)\n"
        f"questions about code take {figures['query_ratio']:.2f} times as long with commits"
    )


def _time(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _measure_size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))


if __name__ == "__main__":
    main()
