"""Search quality on recorded queries written by language models, without a model.

    python -m benchmarks.quality.agent_queries REPOS [--split tune|test] [--only scrapy]
        [--voice user|agent] [--renamed DIR] [--queries FILE]... [--indexes DIR] [--json FILE]

REPOS is the same as for `labelled_questions`, which also defines the figures. For each labeled
question, `labels/agent_queries.jsonl` has the query that a language model sent after it read only
the question and the name of the repository. `--voice user` asks the questions themselves.
`--renamed DIR` searches the copies that `renamed_copies` wrote to DIR instead, with the queries of
`labels/agent_queries_renamed.jsonl`. `--queries` scores another recording; repeat it to compare
several. Questions that a recording lacks are not scored, and their number is printed. A question is
hard if the lines that answer it contain at most half of its content words. These lines differ in a
copy, so its hard questions are not the same as those of the original.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common.arguments import (
    INDEXES,
    JSON,
    ONLY,
    RENAMED,
    REPOS,
    SPLIT,
    command_parser,
    option,
)
from benchmarks.common.labels import LABELS, Label, LabeledRepository, labeled_repositories
from benchmarks.common.metrics import Answer
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app, timed_search
from benchmarks.quality.label_scores import QuestionScore, score_answers, summarize
from benchmarks.renaming.labels import renamed_repository
from rootle import App

RECORDED: Final = LABELS / "agent_queries.jsonl"
RECORDED_RENAMED: Final = LABELS / "agent_queries_renamed.jsonl"
USER: Final = "user"
VOICE: Final = option(
    "--voice", choices=[USER, "agent"], help="ask only these (default: both, user first)"
)
Queries = Mapping[str, str]  # key: REPOSITORY-LINE, the line in the label file


class RecordingError(Exception):
    """Raised when a recording is unreadable, malformed or has none of the questions."""


@dataclass(frozen=True)
class Recording:
    """One recording of queries. Without queries, the questions themselves are asked."""

    name: str
    queries: Queries | None


def main() -> None:
    args = query_parser(__doc__).parse_args()
    try:
        recordings = chosen_recordings(args)
    except RecordingError as error:
        sys.exit(str(error))
    scores: dict[str, dict[str, list[QuestionScore]]] = {one.name: {} for one in recordings}
    missing = dict.fromkeys(scores, 0)
    with index_folder(args.indexes) as indexes:
        for repository in chosen_repositories(args):
            with indexed_app(repository.root, indexes / repository.name) as app:
                for recording in recordings:
                    asked = recorded_questions(repository, recording.queries)
                    missing[recording.name] += len(repository.labels) - len(asked)
                    if asked:
                        found = score_recorded(app, repository.root, asked)
                        scores[recording.name][repository.name] = found
            print(f"{repository.name} done", file=sys.stderr, flush=True)
    print(HEADINGS)
    for name, found_scores in scores.items():
        if found_scores:
            print(format_figures(name, summarize(found_scores)))
    for name, number in missing.items():
        if number:
            print(f"{name}: {number} questions without a recorded query", file=sys.stderr)
    write_json(args.json, {name: summarize(found) for name, found in scores.items() if found})


def query_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options that choose repositories and recorded queries."""
    parser = command_parser(doc, REPOS, SPLIT, ONLY, INDEXES, VOICE, RENAMED, JSON)
    parser.add_argument(
        "--queries", type=Path, action="append", default=[], metavar="FILE",
        help="recorded queries to score instead of the committed ones",
    )  # fmt: skip
    return parser


def chosen_recordings(args: argparse.Namespace) -> list[Recording]:
    """Return the recordings to score. Raise RecordingError if a file cannot be used."""
    files = args.queries or [RECORDED_RENAMED if args.renamed else RECORDED]
    recordings = [] if args.voice == "agent" else [Recording(USER, None)]
    if args.voice != USER:
        recordings += [Recording(file.stem, read_queries(file)) for file in files]
    return recordings


def chosen_repositories(args: argparse.Namespace) -> list[LabeledRepository]:
    """Return the labeled repositories, or their renamed copies."""
    listed = labeled_repositories(args.repos, args.split, args.only)
    if args.renamed is None:
        return listed
    return [renamed_repository(args.renamed, repository) for repository in listed]


def read_queries(path: Path) -> Queries:
    """Return the recorded query of each question. Raise RecordingError if the file is unusable."""
    queries: dict[str, str] = {}
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            record: dict[str, Any] = json.loads(line)
            name, query = record["id"], record["query"]
            if name in queries or not isinstance(query, str) or not query.strip():
                raise RecordingError(f"{path.name}:{number}: repeated or empty: {name}")
            queries[name] = query
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise RecordingError(f"{path}: {error!r}") from error
    if not queries:
        raise RecordingError(f"{path}: no queries")
    return queries


def recorded_questions(
    repository: LabeledRepository, queries: Queries | None
) -> list[tuple[Label, str]]:
    """Return each label that has a recorded query, with the query, in the order of the file.

    Without `queries`, return every label with the question itself.
    """
    if queries is None:
        return [(label, label.query) for label in repository.labels]
    named = (
        (label, queries.get(f"{repository.name}-{number}", ""))
        for number, label in enumerate(repository.labels, start=1)
    )
    return [(label, query) for label, query in named if query]


def score_recorded(app: App, root: Path, asked: Sequence[tuple[Label, str]]) -> list[QuestionScore]:
    """Return the scores of the answers to recorded queries, in order."""
    answers: list[Answer] = []
    confident: list[bool] = []
    for _, query in asked:
        answer, response = timed_search(app, query)
        answers.append(answer)
        confident.append(bool(response.results) and response.confident is not False)
    return score_answers(root, [label for label, _ in asked], answers, confident)


HEADINGS: Final = (
    f"{'queries':24} {'NDCG@10 span [95 %]':21} {'file':5}  hit@1 hit@10  hard"
    "  recognized refused  questions"
)


def format_figures(name: str, figures: Mapping[str, Any]) -> str:
    """Return one line of a table: the figures of one recording over all repositories."""
    low, high = figures["span_ndcg_interval"]
    return (
        f"{name:24} {figures['span_ndcg']:.3f} [{low:.3f}-{high:.3f}]   {figures['file_ndcg']:.3f}"
        f"   {figures['span_hit1']:.2f}   {figures['span_hit10']:.2f}"
        f"  {figures['hard_span_hit10']:.2f}       {figures['unanswerable_recognized']:.2f}"
        f"    {figures['answerable_refused']:.2f}       {figures['questions']:4}"
    )


if __name__ == "__main__":
    main()
