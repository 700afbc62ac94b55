"""Agreement between the two annotators, and the score of each measured by the other.

    python -m benchmarks.quality.annotation_agreement REPOS [--split tune|test] [--only ninja]
        [--indexes DIR] [--json FILE]

112 questions were read twice. The first reading is in git's history of `labels/`, just before the
commit that added the second. The spans of the first reader are scored against today's labels like
the answer of a system, and rootle and plain BM25 against both readings; the difference is what
incomplete labels cost a system. The second reader saw the first reader's labels, so the agreement
is an upper bound of that of two independent readers.
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
    LabelledRepository,
    labelled_repositories,
    parse_labels,
)
from benchmarks.common.metrics import TOP_K, Answer, Hit
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import answer_queries, index_folder, indexed_app
from benchmarks.common.statistics import mean
from benchmarks.quality.label_scores import QuestionScore, score_answers

# The commits that added the first labels, and the second reading of the later ones.
FIRST_LABELS = "1caa1e6"
SECOND_READING = "62207db"


@dataclass(frozen=True)
class Reading:
    """One question as labelled by both readers."""

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
        for repository in labelled_repositories(args.repos, args.split, args.only):
            found = read_both(repository)
            readings += found
            index_dir = indexes / repository.name
            for system, of_system in score_systems(repository.root, found, index_dir).items():
                scores[system] += of_system
    changes = summarize_changes(readings)
    print(
        f"{changes['questions']} questions read twice, {changes['changed']} changed: "
        f"{changes['added']} spans added, {changes['dropped']} dropped"
    )
    figures = {system: figures_of(of_system) for system, of_system in scores.items()}
    for system, row in figures.items():
        print(
            f"{system:44} NDCG@10 by span {row.ndcg:.3f}  hit@1 {row.hit1:.2f}"
            f"  hit@10 {row.hit10:.2f}"
        )
    systems = {system: asdict(row) for system, row in figures.items()}
    write_json(args.json, {**changes, "systems": systems})


def read_both(repository: LabelledRepository) -> list[Reading]:
    """Return the questions of the second reading, before it and today."""
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
    """Return the scores of readers and systems by the labels of either reading."""
    first, second = [one.first for one in readings], [one.second for one in readings]
    queries = [label.query for label in second]
    with indexed_app(root, index_dir) as app:
        rootle = answer_queries(app, queries)
    bm25 = list(map(Answer, search_windows(root, queries)))
    return {
        "first reader, by today's labels": score_answers(root, second, map(answer_of, first)),
        "today's labels, by the first reader's": score_answers(root, first, map(answer_of, second)),
        "rootle, by today's labels": score_answers(root, second, rootle),
        "rootle, by the first reader's": score_answers(root, first, rootle),
        "plain BM25, by today's labels": score_answers(root, second, bm25),
        "plain BM25, by the first reader's": score_answers(root, first, bm25),
    }


def answer_of(label: Label) -> Answer:
    """Return labelled spans as an answer: the best span of each target, then equivalents."""
    ordered = sorted(
        ((place, span) for target in label.targets for place, span in enumerate(target)),
        key=lambda one: one[0],
    )
    hits = [Hit(span.path, ((span.start_line, span.end_line),)) for _, span in ordered]
    return Answer(tuple(hits[:TOP_K]))


def summarize_changes(readings: Sequence[Reading]) -> dict[str, int]:
    """Return how many questions and spans the second reading changed."""
    return {
        "questions": len(readings),
        "changed": sum(one.is_changed for one in readings),
        "added": sum(one.added_spans for one in readings),
        "dropped": sum(one.dropped_spans for one in readings),
    }


def figures_of(scores: Sequence[QuestionScore]) -> Figures:
    return Figures(
        len(scores),
        mean(one.span_ndcg for one in scores),
        mean(1 in one.span_ranks for one in scores),
        mean(bool(one.span_ranks) for one in scores),
    )


if __name__ == "__main__":
    main()
