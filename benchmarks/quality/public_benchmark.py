"""Search quality on the public benchmark: NDCG@10 over its development half.

    python -m benchmarks.quality.public_benchmark BENCH REPOS [--only gin,flask] [--indexes DIR]
        [--config FILE] [--adapter NAME=COMMAND]... [--json FILE]

BENCH is the folder with `repos.json` and `annotations/`; REPOS holds one checkout per repository,
made by `clone_repos`. The rank of a target is the rank of the first of ten results that is in the
target's file and, if the target has lines, overlaps them. One result counts for one target. The
ideal ranking has all targets, primary and secondary, at the top. Scores are averaged over the
questions of each repository, then over repositories.

Each `--adapter` is another system that is scored on the same questions. Its command runs once per
repository, with `{root}` replaced by the folder to index, and reads and writes JSON lines as
described in `benchmarks/common/adapters.py`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.common.adapters import AdapterError, ask_adapter, parse_adapters
from benchmarks.common.arguments import (
    ADAPTER,
    BENCH,
    CONFIG,
    INDEXES,
    JSON,
    ONLY,
    REPOS,
    command_parser,
)  # fmt: skip
from benchmarks.common.metrics import ROOTLE, Answer, ndcg
from benchmarks.common.public_questions import (
    PublicRepository,
    public_repositories,
    target_ranks,
)
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import (
    answer_queries,
    index_folder,
    indexed_app,
    read_config,
)
from rootle import Config


@dataclass(frozen=True)
class RepositoryScores:
    """The scores of one system on one repository."""

    name: str
    language: str
    questions: int
    ndcg: float
    hit1: float  # share of questions with a target in first place
    hit10: float  # share of questions with a target among the first ten
    ms: float  # median time per question
    scores: tuple[float, ...]  # NDCG@10 of each question
    skipped_text: float | None = None  # share of the text that was not indexed


def main() -> None:
    args = parse_arguments()
    scored: dict[str, list[RepositoryScores]] = {ROOTLE: []}
    with index_folder(args.indexes) as indexes:
        for repository in public_repositories(args.bench, args.repos, args.only):
            if not repository.root.is_dir():
                print(f"{repository.name}: no folder {repository.root}", file=sys.stderr)
                continue
            index_dir = indexes / repository.name
            for system, row in score_systems(
                repository, index_dir, read_config(args.config), args.adapters
            ):
                scored.setdefault(system, []).append(row)
                label = repository.name if system == ROOTLE else ""
                print(format_row(label, row.language if label else system, row), flush=True)
    if not scored[ROOTLE]:
        sys.exit("none of the repositories was found")
    summaries = {system: summarize(rows) for system, rows in scored.items()}
    for system, summary in summaries.items():
        print(format_row("mean", f"{system}, {len(scored[system])} repos", summary))
    write_json(args.json, make_report(scored, summaries))


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, BENCH, REPOS, ONLY, INDEXES, CONFIG, ADAPTER, JSON)
    args = parser.parse_args()
    args.adapters = parse_adapters(parser, args.adapter, reserved=(ROOTLE,))
    return args


def score_systems(
    repository: PublicRepository, index_dir: Path, config: Config | None, adapters: dict[str, str]
) -> Iterator[tuple[str, RepositoryScores]]:
    """Yield the scores of rootle, then those of each adapter that answers."""
    answers, skipped = ask_rootle(repository.root, repository.queries, index_dir, config)
    yield ROOTLE, replace(score_answers(repository, answers), skipped_text=skipped)
    for name, command in adapters.items():
        try:
            answers = ask_adapter(command, repository.root, repository.queries)
        except AdapterError as error:
            print(f"{repository.name}: {name}: {error}", file=sys.stderr)
        else:
            yield name, score_answers(repository, answers)


def ask_rootle(
    root: Path, queries: Sequence[str], index_dir: Path, config: Config | None = None
) -> tuple[list[Answer], float]:
    """Return the answers, and the share of the text that exceeds the size limit for one file."""
    with indexed_app(root, index_dir, config) as app:
        return answer_queries(app, queries), app.status().skipped_text_share


def score_answers(repository: PublicRepository, answers: Sequence[Answer]) -> RepositoryScores:
    """Return the scores of one system; `answers` has one answer per question."""
    ranks = [
        target_ranks(answer.hits, question.targets)
        for question, answer in zip(repository.questions, answers, strict=True)
    ]
    scores = [
        ndcg(found, len(question.targets))
        for question, found in zip(repository.questions, ranks, strict=True)
    ]
    return RepositoryScores(
        repository.name,
        repository.repository.language,
        len(ranks),
        statistics.mean(scores),
        statistics.mean(1 in found for found in ranks),
        statistics.mean(bool(found) for found in ranks),
        statistics.median(answer.latency_ms for answer in answers),
        tuple(round(score, 4) for score in scores),
    )


def summarize(rows: Sequence[RepositoryScores]) -> RepositoryScores:
    """Return the means over repositories, and the median of the times."""
    skipped = [row.skipped_text for row in rows if row.skipped_text is not None]
    return RepositoryScores(
        "mean",
        "",
        sum(row.questions for row in rows),
        statistics.mean(row.ndcg for row in rows),
        statistics.mean(row.hit1 for row in rows),
        statistics.mean(row.hit10 for row in rows),
        statistics.median(row.ms for row in rows),
        (),
        statistics.mean(skipped) if skipped else None,
    )


def format_row(label: str, column: str, row: RepositoryScores) -> str:
    skipped = "" if row.skipped_text is None else f"  text skipped {row.skipped_text:.1%}"
    return (
        f"{label:18} {column:18} NDCG@10 {row.ndcg:.3f}  hit@1 {row.hit1:.2f}"
        f"  hit@10 {row.hit10:.2f}  {row.ms:6.1f} ms{skipped}"
    )


def make_report(
    scored: dict[str, list[RepositoryScores]], summaries: dict[str, RepositoryScores]
) -> dict[str, object]:
    """Return the JSON report: rootle's figures, and those of the other systems by name."""
    by_system = {
        system: {
            "summary": asdict(summaries[system]),
            "repositories": [asdict(row) for row in rows],
        }
        for system, rows in scored.items()
    }
    return {**by_system.pop(ROOTLE), "others": by_system}


if __name__ == "__main__":
    main()
