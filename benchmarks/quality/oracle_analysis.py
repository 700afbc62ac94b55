"""Analyze where NDCG@10 is lost, with oracles for perfect order, perfect lines or both.

    python -m benchmarks.quality.oracle_analysis REPOS [--split tune|test] [--only ninja]
        [--indexes DIR] [--json FILE]
    python -m benchmarks.quality.oracle_analysis BENCH_REPOS --bench BENCH [--indexes DIR]
        [--json FILE]

The first form reads this repository's labels, the second the public benchmark; REPOS and
BENCH_REPOS are the checkouts that `labelled_questions` and `public_benchmark` use. rootle is asked
for its first ten files, then for all its candidates (at most sixty) with the lines that it would
show. Each oracle makes the order, the lines or both perfect. Plain BM25 returns sixty windows for
comparison. rootle is measured as shipped: its ranker was trained on the tune split and on the
development half of the public benchmark.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import INDEXES, JSON, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.bm25 import search_windows
from benchmarks.common.internals import index_snapshot
from benchmarks.common.labels import (
    SHOWN_LINES,
    Label,
    Span,
    is_hard,
    labeled_repositories,
)
from benchmarks.common.metrics import ROOTLE, TOP_K, Hit, LineRange
from benchmarks.common.public_questions import PublicQuestion, public_repositories
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app, search_hits
from benchmarks.common.statistics import mean
from benchmarks.quality.oracle_metrics import (
    Candidates,
    Losses,
    OracleScore,
    losses_by_kind,
    oracle_scores,
)
from rootle import App, Config

MAX_CANDIDATES = 60  # maximum number of files that rootle ranks
BASELINE = "bm25"
ANY_LINE = 10**9

Repositories = list[tuple[Path, list[Label]]]


def main() -> None:
    args = parse_arguments()
    questions: dict[str, list[Candidates]] = {ROOTLE: [], BASELINE: []}
    with index_folder(args.indexes) as indexes:
        for root, labels in read_repositories(args):
            questions[ROOTLE] += ask_rootle(root, labels, indexes / labels[0].repository)
            questions[BASELINE] += ask_bm25(root, labels)
    report = {system: make_report(candidates) for system, candidates in questions.items()}
    baseline = oracle_scores(questions[BASELINE])[0].ndcg
    for system, candidates in questions.items():
        print(format_scores(system, oracle_scores(candidates), baseline))
        print(format_losses(losses_by_kind(candidates)))
    print(format_coverage(report[ROOTLE]))
    write_json(args.json, report)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, JSON)
    parser.add_argument(
        "--bench", type=Path, metavar="BENCH", help="folder of the public benchmark"
    )
    return parser.parse_args()


def read_repositories(args: argparse.Namespace) -> Repositories:
    """Return each checkout with its answerable questions."""
    if args.bench:
        return [
            (one.root, [to_label(one.name, question) for question in one.questions])
            for one in public_repositories(args.bench, args.repos, args.only)
        ]
    return [
        (one.root, one.answerable())
        for one in labeled_repositories(args.repos, args.split, args.only)
    ]


def to_label(name: str, question: PublicQuestion) -> Label:
    """Return a public question as a label; any line matches a target without lines."""
    targets = tuple(
        (Span(one.path, one.start_line, one.end_line or ANY_LINE),) for one in question.targets
    )
    return Label(name, question.query, question.category, targets)


def ask_rootle(root: Path, labels: Sequence[Label], index_dir: Path) -> list[Candidates]:
    """Return rootle's candidates: the first ten as shown, then the others."""
    questions = []
    with indexed_app(root, index_dir, Config(max_limit=MAX_CANDIDATES)) as app:
        indexed = indexed_lines(app)
        for label in labels:
            # The lines shown from a file depend slightly on the number of results.
            first, every = (search_hits(app, label.query, n) for n in (TOP_K, MAX_CANDIDATES))
            hits = tuple(one.first_lines(SHOWN_LINES) for one in (*first, *every[len(first) :]))
            is_indexed = has_indexed_line(label, indexed)
            questions.append(list_candidates(root, label, hits, is_indexed=is_indexed))
    return questions


def ask_bm25(root: Path, labels: Sequence[Label]) -> list[Candidates]:
    """Return the sixty best windows of plain BM25 for each question."""
    found = search_windows(root, [label.query for label in labels], MAX_CANDIDATES)
    return [
        list_candidates(root, label, hits, is_indexed=True)
        for label, hits in zip(labels, found, strict=True)
    ]


def list_candidates(
    root: Path, label: Label, hits: tuple[Hit, ...], *, is_indexed: bool
) -> Candidates:
    has_lines = all(span.end_line < ANY_LINE for span in label.spans())
    return Candidates(label, has_lines and is_hard(label, root), hits, is_indexed)


def indexed_lines(app: App) -> dict[str, list[LineRange]]:
    """Return the line ranges of all chunks in the index, by file."""
    snapshot = index_snapshot(app)
    return {
        state.path: [(row.start_line, row.end_line) for row in snapshot.list_chunks(state.id)]
        for state in snapshot.all_files()
    }


def has_indexed_line(label: Label, indexed: dict[str, list[LineRange]]) -> bool:
    """Return whether a chunk in the index contains a line of an answer."""
    return any(
        Hit(span.path, tuple(indexed.get(span.path, ()))).overlaps(span.start_line, span.end_line)
        for span in label.spans()
    )


def make_report(questions: Sequence[Candidates]) -> dict[str, Any]:
    """Return the figures of one system."""
    return {
        "questions": len(questions),
        "hard": sum(one.is_hard for one in questions),
        "oracles": [asdict(score) for score in oracle_scores(questions)],
        "losses": [asdict(losses) for losses in losses_by_kind(questions)],
        "no_candidate": mean(not one.has_answer for one in questions),
        "hard_no_candidate": mean(not one.has_answer for one in questions if one.is_hard),
        "not_indexed": mean(not one.is_indexed for one in questions),
    }


def format_scores(system: str, scores: Sequence[OracleScore], baseline: float) -> str:
    lines = [f"{system:42} NDCG@10  x bm25  hit@10  hard: NDCG@10  hit@10"]
    lines += [
        f"  {score.oracle:40} {score.ndcg:7.3f}  {score.ndcg / baseline:6.2f}  {score.hit10:6.2f}"
        f"  {score.hard_ndcg:13.3f}  {score.hard_hit10:6.2f}"
        for score in scores
    ]
    return "\n".join(lines)


def format_losses(by_kind: Sequence[Losses]) -> str:
    causes = list(by_kind[0].by_cause)
    lines = [f"  {'lost by':14} questions  NDCG@10  {'  '.join(causes)}"]
    for one in by_kind:
        lost = "  ".join(f"{one.by_cause[cause]:{len(cause)}.3f}" for cause in causes)
        lines.append(f"  {one.kind:14} {one.questions:9}  {one.ndcg:7.3f}  {lost}")
    return "\n".join(lines)


def format_coverage(report: dict[str, Any]) -> str:
    return (
        f"rootle: no candidate file answers {report['no_candidate']:.1%} of "
        f"{report['questions']} questions, {report['hard_no_candidate']:.1%} of {report['hard']} "
        f"hard ones; the index has no line of the answer to {report['not_indexed']:.1%}"
    )


if __name__ == "__main__":
    main()
