"""Search quality on real histories: recall of the files that the next commit changes.

    python -m benchmarks.history.changed_files CLONES WORK [--only tmux,viper]
        [--split train|held-out] [--limit N] [--adapter NAME=COMMAND]... [--json FILE]

CLONES holds a clone with full history for each entry of `repositories.json`. For each question (see
`commit_questions`), the commit's parent is checked out in WORK, rootle's index is updated, and the
commit's message is the query. Recall@10 is the share of the changed files that occur in the first
ten results; "without tests" counts only files that are not tests. Scores are averaged over the
questions of a repository, then over repositories; the 95 % intervals resample repositories. Plain
BM25 (the best window of each file) is the baseline. Each `--adapter` is another system, as in
`public_benchmark`; its command runs once per question.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common.adapters import AdapterError, ask_adapter, parse_adapters
from benchmarks.common.arguments import (
    ADAPTER,
    CLONES,
    HISTORY_SPLIT,
    JSON,
    LIMIT,
    ONLY,
    WORK,
    command_parser,
)  # fmt: skip
from benchmarks.common.bm25 import Bm25Index
from benchmarks.common.git import GitError
from benchmarks.common.metrics import ROOTLE, TOP_K
from benchmarks.common.reports import format_interval, write_json
from benchmarks.common.repositories import (
    Repository,
    RepositoryListError,
    read_repositories,
    select_repositories,
)
from benchmarks.history.commit_questions import (
    CommitQuestion,
    is_test,
    names_target,
    select_questions,
)
from benchmarks.history.recall_scores import (
    BASELINE,
    Comparison,
    QuestionRanks,
    Scores,
    Summary,
    file_ranks,
    score_questions,
    summarize,
)
from benchmarks.history.work_trees import visit_parents
from rootle import App, SearchQuery
from rootle.errors import IndexStorageError

REPOSITORIES = Path(__file__).with_name("repositories.json")
SPLITS = ("train", "held-out")

Results = dict[str, list[list[str]]]  # system -> for each question, the files found, best first


@dataclass(frozen=True)
class RepositoryResult:
    """The outcome of one repository."""

    repository: Repository
    questions: tuple[QuestionRanks, ...]
    scores: dict[str, Scores]  # by system
    seconds: float


def main() -> None:
    args = parse_arguments()
    logging.getLogger("rootle").setLevel(logging.ERROR)  # a warning would be repeated per commit
    results = []
    for repository in history_repositories(args.only, args.split):
        try:
            result = measure_repository(repository, args)
        except GitError as error:
            hint = f"{args.clones / repository.name} should be a clone of {repository.url}"
            print(f"{repository.name}: {error}; {hint}", file=sys.stderr)
            continue
        results.append(result)
        for system, scores in result.scores.items():
            label = repository.name if system == ROOTLE else ""
            print(format_row(label, system, scores), flush=True)
    if not results:
        sys.exit("no questions could be asked")
    summaries = summarize_splits(results)
    for split, systems in summaries.items():
        for system, summary in systems.items():
            label = f"{split}, {summary.repositories} repos"
            print(format_row(label, system, summary.scores))
            print(format_summary(summary, system))
    print(format_totals(results))
    write_json(args.json, make_report(results, summaries))


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, CLONES, WORK, ONLY, HISTORY_SPLIT, LIMIT, ADAPTER, JSON)
    args = parser.parse_args()
    args.adapters = parse_adapters(parser, args.adapter, reserved=(ROOTLE, BASELINE))
    return args


def history_repositories(only: frozenset[str], split: str | None) -> list[Repository]:
    """Return the repositories with these names in this split; exit if a name is unknown."""
    try:
        return select_repositories(read_repositories(REPOSITORIES), only, split)
    except RepositoryListError as error:
        sys.exit(str(error))


def measure_repository(repository: Repository, args: argparse.Namespace) -> RepositoryResult:
    """Ask every question about one repository. Raise GitError if its history yields none."""
    clone = args.clones / repository.name
    started = time.perf_counter()
    questions = select_questions(clone, repository.revision, args.limit)
    if not questions:
        raise GitError("no commit is suitable as a question")
    results = ask_systems(clone, args.work / repository.name, questions, args.adapters)
    ranked = [
        QuestionRanks(
            question.commit,
            question.text,
            question.files,
            tuple(map(is_test, question.files)),
            names_target(question),
            {name: file_ranks(question.files, found[at]) for name, found in results.items()},
        )
        for at, question in enumerate(questions)
    ]
    scores = {system: score_questions(ranked, system) for system in results}
    return RepositoryResult(repository, tuple(ranked), scores, time.perf_counter() - started)


def ask_systems(
    clone: Path, work: Path, questions: Sequence[CommitQuestion], adapters: Mapping[str, str]
) -> Results:
    """Return the results of each system; an adapter that fails is left out."""
    results: Results = {name: [] for name in (ROOTLE, BASELINE, *adapters)}
    baseline = Bm25Index()
    for question, app in visit_parents(clone, work, questions):
        results[ROOTLE].append(ask_rootle(app, question))
        baseline.index(app.root)
        windows = baseline.search(question.text, TOP_K, per_file=True)
        results[BASELINE].append([window.path for window in windows])
        for name in [name for name in adapters if name in results]:
            try:
                answer = ask_adapter(adapters[name], app.root, [question.text])[0]
            except AdapterError as error:
                print(f"{work.name}: {name}: {error}", file=sys.stderr)
                del results[name]
            else:
                results[name].append([hit.path for hit in answer.hits])
    return results


def ask_rootle(app: App, question: CommitQuestion) -> list[str]:
    """Return the files found. A damaged index, which is a bug, is reported and rebuilt."""
    query = SearchQuery(question.text, limit=TOP_K)
    try:
        response = app.search(query)
    except IndexStorageError as error:
        print(f"{question.parent[:12]}: index rebuilt: {error}", file=sys.stderr)
        app.index(rebuild=True)
        response = app.search(query)
    return [result.file_path for result in response.results]


def summarize_splits(results: Sequence[RepositoryResult]) -> dict[str, dict[str, Summary]]:
    """Return the summary of each split and system, and of all questions if there are two splits."""
    splits = [split for split in SPLITS if split in {one.repository.split for one in results}]
    summaries = {}
    for split in splits + ["all"] * (len(splits) > 1):
        rows = [one.scores for one in results if split in (one.repository.split, "all")]
        systems = dict.fromkeys(system for row in rows for system in row)
        summaries[split] = {system: summarize(rows, system) for system in systems}
    return summaries


def format_row(label: str, system: str, scores: Scores) -> str:
    source = scores.source_recall
    return (
        f"{label:22} {system:8} recall@10 {scores.recall:.3f}"
        f"  without tests {'    -' if source is None else f'{source:.3f}'}"
        f"  hit@1 {scores.hit1:.2f}  MRR {scores.mrr:.3f}"
    )


def format_summary(summary: Summary, system: str) -> str:
    """Return the intervals of both recalls, one per line."""
    recalls = (("recall@10", summary.recall), ("without tests", summary.source_recall))
    return "\n".join(format_comparison(label, recall, system) for label, recall in recalls)


def format_comparison(label: str, comparison: Comparison, system: str) -> str:
    low, high = comparison.interval
    line = f"{'':31} {label} {low:.3f} to {high:.3f}"
    if system != BASELINE and comparison.ratio is not None and comparison.ratio_interval:
        interval = format_interval(comparison.ratio_interval, ".2f", " to ")
        line += f", {comparison.ratio:.2f} x {BASELINE} {interval}"
    return line


def question_facts(results: Sequence[RepositoryResult]) -> dict[str, float]:
    """Return figures about the questions themselves."""
    questions = [question for one in results for question in one.questions]
    return {
        "questions": len(questions),
        "files_per_question": statistics.mean(len(question.files) for question in questions),
        "names_target": statistics.mean(question.names_target for question in questions),
        "seconds": sum(one.seconds for one in results),
    }


def format_totals(results: Sequence[RepositoryResult]) -> str:
    facts = question_facts(results)
    return (
        f"{facts['questions']} questions, {facts['files_per_question']:.1f} files each; "
        f"{facts['names_target']:.0%} name a target file; {facts['seconds']:.0f} s"
    )


def make_report(
    results: Sequence[RepositoryResult], summaries: Mapping[str, Mapping[str, Summary]]
) -> dict[str, object]:
    """Return the JSON report: summaries, facts, and every question with its ranks."""
    summary = {
        split: {system: asdict(one) for system, one in systems.items()}
        for split, systems in summaries.items()
    }
    repositories = [asdict(one) for one in results]
    return {"summary": summary, **question_facts(results), "repositories": repositories}


if __name__ == "__main__":
    main()
