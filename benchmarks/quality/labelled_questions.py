"""Search quality on this repository's labeled questions, including hard and unanswerable ones.

    python -m benchmarks.quality.labelled_questions REPOS [--split tune|test] [--only scrapy]
        [--indexes DIR] [--adapter NAME=COMMAND]... [--json FILE]

REPOS holds one checkout, made by `clone_repos`, for each entry of `labels/repositories.json`. Only
the first 60 lines of each result count: its span, then its `moreSpans`. A target is found by the
first of ten results that overlaps any of its spans; one result counts for one target; the ideal
ranking has all targets at the top. For the scores by file, a result in the right file is enough. An
unanswerable question is recognized if the response is not `confident` or is empty; the same verdict
on an answerable question is a refusal. Tokens (four characters each) are counted in the results up
to the first answer, or in all ten results if none answers. `--adapter` works as in
`public_benchmark`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common.adapters import AdapterError, ask_adapter, parse_adapters
from benchmarks.common.arguments import (
    ADAPTER,
    INDEXES,
    JSON,
    ONLY,
    REPOS,
    SPLIT,
    command_parser,
)  # fmt: skip
from benchmarks.common.labels import LabeledRepository, labeled_repositories
from benchmarks.common.metrics import ROOTLE, Answer
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app, timed_search
from benchmarks.quality.label_scores import (
    QuestionScore,
    format_row,
    score_answers,
    summarize,
)


def main() -> None:
    args = parse_arguments()
    scores: dict[str, dict[str, list[QuestionScore]]] = {}
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only):
            name = repository.name
            for system, found in score_systems(repository, indexes / name, args.adapters):
                scores.setdefault(system, {})[name] = found
                label = name if system == ROOTLE else ""
                print(format_row(label, system, {name: found}), flush=True)
    if not scores:
        sys.exit("none of the repositories was found")
    for system, by_repository in scores.items():
        print(format_row("all", system, by_repository))
    write_json(args.json, {system: summarize(found) for system, found in scores.items()})


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, ADAPTER, JSON)
    args = parser.parse_args()
    args.adapters = parse_adapters(parser, args.adapter, reserved=(ROOTLE,))
    return args


def score_systems(
    repository: LabeledRepository, index_dir: Path, adapters: dict[str, str]
) -> Iterator[tuple[str, list[QuestionScore]]]:
    """Yield the scores of rootle, then those of each adapter that answers."""
    root, labels = repository.root, repository.labels
    yield ROOTLE, score_answers(root, labels, *ask_rootle(repository, index_dir))
    for name, command in adapters.items():
        try:
            answers = ask_adapter(command, root, [label.query for label in labels])
        except AdapterError as error:
            print(f"{repository.name}: {name}: {error}", file=sys.stderr)
        else:
            yield name, score_answers(root, labels, answers)


def ask_rootle(repository: LabeledRepository, index_dir: Path) -> tuple[list[Answer], list[bool]]:
    """Return the answer to each question, and whether rootle is confident in it."""
    answers, confident = [], []
    with indexed_app(repository.root, index_dir) as app:
        for label in repository.labels:
            answer, response = timed_search(app, label.query)
            answers.append(answer)
            confident.append(bool(response.results) and response.confident is not False)
    return answers, confident


if __name__ == "__main__":
    main()
