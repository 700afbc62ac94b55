"""Compare the answers to people's questions with and without related words.

    python -m benchmarks.quality.related_words REPOS [--large] [--split tune|test] [--only scrapy]
        [--rounds N] [--indexes DIR] [--json FILE]

REPOS is the same as for `labelled_questions`, or with `--large` as for `large_repositories`. Each
question is asked twice: with related words, as usual, and without them. "more" and "less" are the
numbers of questions whose NDCG@10 by span rises and falls with related words. The time is the
processor time per question in the fastest of N rounds (default: 3), as the median over
repositories.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final

from benchmarks.common.arguments import (
    INDEXES,
    JSON,
    LARGE,
    ONLY,
    REPOS,
    ROUNDS,
    SPLIT,
    command_parser,
)
from benchmarks.common.internals import disable_related_terms
from benchmarks.common.labels import LARGE_LABELS, LabeledRepository, labeled_repositories
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import answer_queries, index_folder, indexed_app
from benchmarks.common.statistics import mean
from benchmarks.quality.label_scores import QuestionScore, score_answers, summarize
from rootle import App, Config

RELATED: Final = "related words"
PLAIN: Final = "own words"
WAYS: Final = (PLAIN, RELATED)
# A cached answer takes no time, and would be the same for both ways of asking.
_CONFIG: Final = Config(enable_cache=False)

Scores = Mapping[str, Sequence[QuestionScore]]  # keyed by the way of asking


@dataclass(frozen=True)
class RepositoryFigures:
    """One repository's scores and time per question, for each way of asking."""

    name: str
    scores: Scores
    ms: Mapping[str, float]


def main() -> None:
    rounds = ROUNDS.with_settings(default=3)
    parser = command_parser(__doc__, REPOS, LARGE, SPLIT, ONLY, rounds, INDEXES, JSON)
    args = parser.parse_args()
    labels = LARGE_LABELS if args.large else None
    found: list[RepositoryFigures] = []
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only, labels):
            with indexed_app(repository.root, indexes / repository.name, _CONFIG) as app:
                found.append(measure_repository(app, repository, args.rounds))
            print(f"{repository.name} done", file=sys.stderr, flush=True)
    report = summarize_ways(found)
    for way in WAYS:
        print(format_way(way, report[way]))
    print(f"more: {report['changes']['more']:.0f}, less: {report['changes']['less']:.0f}")
    write_json(args.json, report)


def measure_repository(app: App, repository: LabeledRepository, rounds: int) -> RepositoryFigures:
    """Return the figures of the answerable questions about a repository."""
    labels = repository.answerable()
    queries = [label.query for label in labels]
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    scores: dict[str, Sequence[QuestionScore]] = {}
    for _ in range(rounds):
        for way in WAYS:
            with _enter_way(way):
                started = time.process_time()
                answers = answer_queries(app, queries)
                times[way].append(time.process_time() - started)
            scores[way] = score_answers(repository.root, labels, answers)
    ms = {way: min(found) * 1000 / max(1, len(queries)) for way, found in times.items()}
    return RepositoryFigures(repository.name, scores, ms)


def summarize_ways(found: Sequence[RepositoryFigures]) -> dict[str, dict[str, float]]:
    """Return the figures of each way, and how many questions differ."""
    report: dict[str, dict[str, float]] = {}
    for way in WAYS:
        figures = summarize({one.name: one.scores[way] for one in found})
        kept = ("questions", "span_ndcg", "span_hit1", "span_hit10", "file_hit1", "hard_span_hit10")
        report[way] = {name: figures[name] for name in kept}
        report[way]["ms"] = statistics.median(one.ms[way] for one in found)
    ratios = [one.ms[RELATED] / one.ms[PLAIN] for one in found]
    report[RELATED]["time_ratio"] = statistics.median(ratios)
    report[RELATED]["largest_time_ratio"] = max(ratios)
    changes = [
        after.span_ndcg - before.span_ndcg
        for one in found
        for before, after in zip(one.scores[PLAIN], one.scores[RELATED], strict=True)
    ]
    report["changes"] = {
        "more": sum(change > 0 for change in changes),
        "less": sum(change < 0 for change in changes),
        "mean": mean(changes),
    }
    return report


def format_way(way: str, figures: Mapping[str, float]) -> str:
    """Return one line of the table."""
    line = (
        f"{way:14} {figures['questions']:4.0f} questions"
        f"  NDCG@10 by span {figures['span_ndcg']:.3f}"
        f"  hit@1 {figures['span_hit1']:.3f}  hit@10 {figures['span_hit10']:.3f}"
        f"  hard {figures['hard_span_hit10']:.3f}  file first {figures['file_hit1']:.3f}"
        f"  {figures['ms']:.1f} ms"
    )
    if "time_ratio" in figures:
        line += f" (x {figures['time_ratio']:.2f}, at most {figures['largest_time_ratio']:.2f})"
    return line


def _enter_way(way: str) -> AbstractContextManager[object]:
    return nullcontext() if way == RELATED else disable_related_terms()


if __name__ == "__main__":
    main()
