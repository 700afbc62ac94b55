"""Agreement between two annotators: each is scored against the labels of the other.

    python -m benchmarks.quality.annotation_agreement REPOS [--split tune|test] [--only ninja]
        [--indexes DIR] [--json FILE]

112 questions were annotated twice. The first annotation is in the git history of `labels/`, just
before the commit that added the second. The spans of the first annotator are scored against today's
labels like the answer of a system. rootle and plain BM25 are scored against both annotations; the
difference is the score that a system loses through incomplete labels. The second annotator saw the
labels of the first, so two independent annotators would agree at most this well.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common.arguments import INDEXES, JSON, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.bm25 import search_windows
from benchmarks.common.git import GitError, run_git
from benchmarks.common.labels import (
    LABELS,
    Label,
    LabeledRepository,
    labeled_repositories,
    parse_labels,
)
from benchmarks.common.metrics import TOP_K, Answer, Hit
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import answer_queries, index_folder, indexed_app
from benchmarks.common.statistics import mean
from benchmarks.quality.label_scores import QuestionScore, score_answers

# The questions of the commit FIRST_LABELS are not evaluated: they have only one annotation. The
# commit SECOND_READING contains the changes of the second annotator to the questions that were
# added in between.
FIRST_LABELS = "1caa1e6"
SECOND_READING = "62207db"


@dataclass(frozen=True)
class Reading:
    """One question as labeled by both annotators."""

    first: Label
    second: Label

    @property
    def is_changed(self) -> bool:
        return set(map(frozenset, self.first.targets)) != set(map(frozenset, self.second.targets))

    @property
    def added_spans(self) -> int:
        return len(set(self.second.spans()) - set(self.first.spans()))

    @property
    def dropped_spans(self) -> int:
        return len(set(self.first.spans()) - set(self.second.spans()))


@dataclass(frozen=True)
class Figures:
    """Mean scores over the questions."""

    questions: int
    ndcg: float
    hit1: float
    hit10: float


def main() -> None:
    args = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, JSON).parse_args()
    readings: list[Reading] = []
    scores: dict[str, list[QuestionScore]] = defaultdict(list)
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only):
            found = read_both(repository)
            readings += found
            index_dir = indexes / repository.name
            for system, system_scores in score_systems(repository.root, found, index_dir).items():
                scores[system] += system_scores
    changes = summarize_changes(readings)
    print(
        f"{changes['questions']} questions annotated twice, {changes['changed']} changed: "
        f"{changes['added']} spans added, {changes['dropped']} dropped"
    )
    figures = {system: measure_agreement(system_scores) for system, system_scores in scores.items()}
    for system, row in figures.items():
        print(
            f"{system:44} NDCG@10 by span {row.ndcg:.3f}  hit@1 {row.hit1:.2f}"
            f"  hit@10 {row.hit10:.2f}"
        )
    systems = {system: asdict(row) for system, row in figures.items()}
    write_json(args.json, {**changes, "systems": systems})


def read_both(repository: LabeledRepository) -> list[Reading]:
    """Return the questions that were annotated twice, with their first and current labels."""
    path = f"benchmarks/labels/{repository.name}.jsonl"
    try:
        before = parse_labels(repository.name, git_show(f"{SECOND_READING}^:{path}"))
        earlier = parse_labels(repository.name, git_show(f"{FIRST_LABELS}:{path}"))
    except GitError as error:
        sys.exit(f"{error}; a clone of rootle with its full history is required")
    first = {label.query: label for label in before}
    read_once = {label.query for label in earlier}
    return [
        Reading(first[label.query], label)
        for label in repository.answerable()
        if label.query in first and label.query not in read_once
    ]


def git_show(revision_path: str) -> str:
    return run_git(LABELS, "show", revision_path)


def score_systems(
    root: Path, readings: Sequence[Reading], index_dir: Path
) -> dict[str, list[QuestionScore]]:
    """Return the scores of annotators and systems against the labels of each annotator."""
    first, second = [one.first for one in readings], [one.second for one in readings]
    queries = [label.query for label in second]
    with indexed_app(root, index_dir) as app:
        rootle = answer_queries(app, queries)
    bm25 = list(map(Answer, search_windows(root, queries)))
    return {
        "first annotator, by today's labels": score_answers(root, second, map(make_answer, first)),
        "today's labels, by the first annotator's": score_answers(
            root, first, map(make_answer, second)
        ),
        "rootle, by today's labels": score_answers(root, second, rootle),
        "rootle, by the first annotator's": score_answers(root, first, rootle),
        "plain BM25, by today's labels": score_answers(root, second, bm25),
        "plain BM25, by the first annotator's": score_answers(root, first, bm25),
    }


def make_answer(label: Label) -> Answer:
    """Return labeled spans as an answer: the best span of each target, then equivalent ones."""
    ordered = sorted(
        ((place, span) for target in label.targets for place, span in enumerate(target)),
        key=lambda one: one[0],
    )
    hits = [Hit(span.path, ((span.start_line, span.end_line),)) for _, span in ordered]
    return Answer(tuple(hits[:TOP_K]))


def summarize_changes(readings: Sequence[Reading]) -> dict[str, int]:
    """Return the numbers of questions and spans that the second annotation changed."""
    return {
        "questions": len(readings),
        "changed": sum(one.is_changed for one in readings),
        "added": sum(one.added_spans for one in readings),
        "dropped": sum(one.dropped_spans for one in readings),
    }


def measure_agreement(scores: Sequence[QuestionScore]) -> Figures:
    return Figures(
        len(scores),
        mean(one.span_ndcg for one in scores),
        mean(1 in one.span_ranks for one in scores),
        mean(bool(one.span_ranks) for one in scores),
    )


if __name__ == "__main__":
    main()
