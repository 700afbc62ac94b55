"""Where NDCG@10 is lost: what perfect lines, a perfect order and perfect candidates would give.

    python -m benchmarks.quality.oracle_analysis REPOS [--split tune|test] [--indexes DIR] [--json FILE]
    python -m benchmarks.quality.oracle_analysis BENCH_REPOS --bench BENCH [--indexes DIR] [--json FILE]

The first form reads our own labels, the second the public benchmark; REPOS and BENCH_REPOS are the
checkouts of `quality/labelled_questions.py` and `quality/public_benchmark.py`. rootle is asked for its first ten files as it shows
them, then for all of its candidates (sixty at most) with the lines that it would show. A step of
the ladder makes a part of that perfect and counts again. Plain BM25 (`common/bm25.py`, windows that
compete) stands beside it with sixty windows. rootle is measured as it ships: its trees have seen
the tune part and the development half.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.common.bm25 import Bm25
from benchmarks.common.labels import LABELS, Label, Span, is_hard, read_labels
from benchmarks.quality import public_benchmark as quality
from benchmarks.quality.labelled_questions import first_lines
from benchmarks.quality.oracle_metrics import Asked, Losses, Step, ladder_of, losses_by_kind, mean
from benchmarks.quality.public_benchmark import OURS, TOP_K, Found, found
from rootle import App, Config, SearchQuery, open_app

CANDIDATES = 60  # rootle looks at no more files
FLOOR = "bm25"
ANY_LINE = 10**9


def main() -> None:
    args = parse_arguments()
    repositories = of_bench(args.bench, args.repos) if args.bench else of_labels(args)
    asked: dict[str, list[Asked]] = {OURS: [], FLOOR: []}
    with tempfile.TemporaryDirectory() as scratch:
        for root, labels in repositories:
            index_dir = (args.indexes or Path(scratch)) / labels[0].repository
            asked[OURS] += ask_rootle(root, labels, index_dir)
            asked[FLOOR] += ask_bm25(root, labels)
    report = {system: report_of(of_one) for system, of_one in asked.items()}
    floor = ladder_of(asked[FLOOR])[0].ndcg
    for system, of_one in asked.items():
        print(ladder_text(system, ladder_of(of_one), floor))
        print(losses_text(losses_by_kind(of_one)))
    print(found_text(report[OURS]))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--bench", type=Path, help="the public benchmark's folder")
    parser.add_argument("--split", default="", choices=["", "tune", "test"])
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def of_labels(args: argparse.Namespace) -> list[tuple[Path, list[Label]]]:
    """Our own questions that have an answer, by repository."""
    return [
        (args.repos / repo["name"], [one for one in read_labels(repo["name"]) if one.targets])
        for repo in json.loads((LABELS / "repositories.json").read_text())
        if args.split in ("", repo["split"])
    ]


def of_bench(bench: Path, repos: Path) -> list[tuple[Path, list[Label]]]:
    """The public benchmark's questions; a target without lines is met by any line of its file."""
    asked = []
    for repo in json.loads((bench / "repos.json").read_text()):
        inside = repo.get("benchmark_root") or ""
        root = repos / repo["name"] / inside
        questions = json.loads((bench / "annotations" / f"{repo['name']}.json").read_text())
        asked.append((root, [bench_label(repo["name"], one, root, inside) for one in questions]))
    return asked


def bench_label(name: str, question: dict, root: Path, inside: str) -> Label:
    wanted = (*question["relevant"], *question["secondary"])
    targets = [quality.target(entry, root, inside) for entry in wanted]
    spans = tuple((Span(path, start, end or ANY_LINE),) for path, start, end in targets)
    return Label(name, question["query"], question.get("category", ""), spans)


def ask_rootle(root: Path, labels: Sequence[Label], index_dir: Path) -> list[Asked]:
    asked = []
    with open_app(root, index_dir=index_dir, config=Config(max_limit=CANDIDATES)) as app:
        app.index()
        indexed = indexed_lines(app)
        for label in labels:
            # What is shown of a file depends a little on the others that are shown with it.
            first, every = (
                app.search(SearchQuery(label.query, limit=limit)).results
                for limit in (TOP_K, CANDIDATES)
            )
            results = tuple(first_lines(found(one)) for one in (*first, *every[len(first) :]))
            asked.append(asked_of(root, label, results, is_indexed=is_any_in(label, indexed)))
    return asked


def ask_bm25(root: Path, labels: Sequence[Label]) -> list[Asked]:
    engine = Bm25()
    engine.read(root)
    asked = []
    for label in labels:
        windows = engine.search(label.query, CANDIDATES)
        results = tuple(Found(one.path, ((one.start_line, one.end_line),)) for one in windows)
        asked.append(asked_of(root, label, results, is_indexed=True))
    return asked


def asked_of(root: Path, label: Label, results: tuple[Found, ...], *, is_indexed: bool) -> Asked:
    asks_for_lines = all(span.end_line < ANY_LINE for target in label.targets for span in target)
    return Asked(label, asks_for_lines and is_hard(label, root), results, is_indexed)


def indexed_lines(app: App) -> dict[str, list[tuple[int, int]]]:
    """The lines of every chunk of the index, by file."""
    snapshot = app._container.indexer().snapshot()  # noqa: SLF001  # no answer says what was not indexed
    return {
        state.path: [(row.start_line, row.end_line) for row in snapshot.chunks_of(state.id)]
        for state in snapshot.all_files()
    }


def is_any_in(label: Label, indexed: dict[str, list[tuple[int, int]]]) -> bool:
    return any(
        start <= span.end_line and span.start_line <= end
        for target in label.targets
        for span in target
        for start, end in indexed.get(span.path, ())
    )


def report_of(asked: Sequence[Asked]) -> dict:
    return {
        "questions": len(asked),
        "hard": sum(one.hard for one in asked),
        "ladder": [asdict(step) for step in ladder_of(asked)],
        "losses": [asdict(losses) for losses in losses_by_kind(asked)],
        "noCandidate": mean(not one.is_candidate for one in asked),
        "hardNoCandidate": mean(not one.is_candidate for one in asked if one.hard),
        "neverIndexed": mean(not one.is_indexed for one in asked),
    }


def ladder_text(system: str, ladder: Sequence[Step], floor: float) -> str:
    lines = [f"{system:42} NDCG@10  x bm25  hit@10  hard: NDCG@10  hit@10"]
    lines += [
        f"  {step.name:40} {step.ndcg:7.3f}  {step.ndcg / floor:6.2f}  {step.hit:6.2f}"
        f"  {step.hard_ndcg:13.3f}  {step.hard_hit:6.2f}"
        for step in ladder
    ]
    return "\n".join(lines)


def losses_text(by_kind: Sequence[Losses]) -> str:
    causes = list(by_kind[0].by_cause)
    lines = [f"  {'lost by':14} questions  NDCG@10  {'  '.join(causes)}"]
    for one in by_kind:
        lost = "  ".join(f"{one.by_cause[cause]:{len(cause)}.3f}" for cause in causes)
        lines.append(f"  {one.kind:14} {one.questions:9}  {one.ndcg:7.3f}  {lost}")
    return "\n".join(lines)


def found_text(report: dict) -> str:
    return (
        f"rootle: no file with an answer among the candidates: {report['noCandidate']:.1%} of "
        f"{report['questions']} questions, {report['hardNoCandidate']:.1%} of {report['hard']} "
        f"hard ones; no line of an answer in the index: {report['neverIndexed']:.1%}"
    )


if __name__ == "__main__":
    main()
