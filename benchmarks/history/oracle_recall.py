"""Upper bounds for the recall of changed files, and the recall of groups of files.

    python -m benchmarks.history.oracle_recall CLONES WORK [--only tmux,viper]
        [--split train|held-out] [--limit N] [--json FILE]

Questions, work trees and averages are those of `changed_files`, but rootle and BM25 (with the best
window of each file) may return as many files as rootle ranks. For comparison, BM25 also returns its
ten best windows, several of which may be in one file. The word overlap of a commit with a target
file is computed as in `common/labels.py`, from the words of the file's path and text.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import (
    CLONES,
    HISTORY_SPLIT,
    JSON,
    LIMIT,
    ONLY,
    WORK,
    command_parser,
)  # fmt: skip
from benchmarks.common.bm25 import Bm25Index
from benchmarks.common.labels import word_overlap
from benchmarks.common.metrics import ROOTLE, TOP_K
from benchmarks.common.reports import write_json
from benchmarks.common.statistics import mean
from benchmarks.history.changed_files import history_repositories
from benchmarks.history.commit_log import added_files
from benchmarks.history.commit_questions import CommitQuestion, is_test, select_questions
from benchmarks.history.recall_scores import BASELINE, file_ranks
from benchmarks.history.work_trees import visit_parents
from rootle import App, Config, SearchQuery

MAX_CANDIDATES = 60  # maximum number of files that rootle ranks
WINDOWS = "bm25 windows"
WANTED_RATIO = 1.3


@dataclass(frozen=True)
class TargetFile:
    """A file that a commit changed, with its rank in each system's results."""

    path: str
    is_test: bool
    word_overlap: float  # share of the commit's words that the file contains
    ranks: dict[str, int | None]

    def is_found(self, system: str, depth: int = TOP_K) -> bool:
        """Return whether the file is among the first `depth` results."""
        rank = self.ranks[system]
        return rank is not None and rank <= depth


@dataclass(frozen=True)
class CommitTargets:
    """The target files of one question."""

    files: tuple[TargetFile, ...]
    added_files: int  # number of files that the parent commit lacks, so that no search finds them


Repositories = Sequence[Sequence[CommitTargets]]


def main() -> None:
    args = command_parser(__doc__, CLONES, WORK, ONLY, HISTORY_SPLIT, LIMIT, JSON).parse_args()
    logging.getLogger("rootle").setLevel(logging.ERROR)
    found = {}
    for repository in history_repositories(args.only, args.split):
        name = repository.name
        clone = args.clones / name
        questions = select_questions(clone, repository.revision, args.limit)
        found[name] = list(find_targets(clone, args.work / name, questions))
        print(name, file=sys.stderr)
    report = analyze(list(found.values()))
    print(format_report(report))
    rows = {name: [asdict(one) for one in commits] for name, commits in found.items()}
    write_json(args.json, {**report, "repositories": rows})


def find_targets(
    clone: Path, work: Path, questions: Sequence[CommitQuestion]
) -> Sequence[CommitTargets]:
    """Return the target files of each question with their ranks."""
    baseline, commits = Bm25Index(), []
    for question, app in visit_parents(clone, work, questions, Config(max_limit=MAX_CANDIDATES)):
        baseline.index(app.root)
        results = ask_systems(question.text, app, baseline)
        ranks = {name: file_ranks(question.files, files) for name, files in results.items()}
        files = tuple(
            TargetFile(
                path,
                is_test(path),
                word_overlap(question.text, f"{path}\n{read_text(app.root / path)}"),
                {name: system_ranks[number] for name, system_ranks in ranks.items()},
            )
            for number, path in enumerate(question.files)
        )
        added = added_files(clone, question.parent, question.commit)
        commits.append(CommitTargets(files, len(added)))
    return commits


def ask_systems(text: str, app: App, baseline: Bm25Index) -> dict[str, list[str]]:
    """Return the files found by each system, best first."""
    results = app.search(SearchQuery(text, limit=MAX_CANDIDATES)).results
    best_windows = baseline.search(text, MAX_CANDIDATES, per_file=True)
    return {
        ROOTLE: [result.file_path for result in results],
        BASELINE: [window.path for window in best_windows],
        WINDOWS: [window.path for window in baseline.search(text, TOP_K)],
    }


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def analyze(found: Repositories) -> dict[str, Any]:
    """Return all figures; recalls are averaged over commits, then over repositories."""
    commits = [commit for repository in found for commit in repository]
    files = [one for commit in commits for one in commit.files]
    baseline = recall(found, is_in_first_ten(BASELINE))
    return {
        "commits": len(commits),
        "files": len(files),
        "added_files": sum(commit.added_files for commit in commits),
        "max_files": max(len(commit.files) for commit in commits),
        "recall": {
            name: recall(found, is_in_first_ten(name)) for name in (ROOTLE, BASELINE, WINDOWS)
        },
        "wanted": WANTED_RATIO * baseline,
        "upper_bounds": upper_bounds(found),
        "unreachable_repositories": sum(
            WANTED_RATIO * recall([repository], is_in_first_ten(BASELINE)) > 1
            for repository in found
        ),
        "answered_by_baseline": mean(
            all(one.is_found(BASELINE) for one in commit.files) for commit in commits
        ),
        "groups": [
            describe_group(files, "tests", lambda one: one.is_test),
            describe_group(files, "other files", lambda one: not one.is_test),
            describe_group(files, "no word of the commit", lambda one: one.word_overlap == 0),
            describe_group(
                files, "up to a quarter of its words", lambda one: 0 < one.word_overlap <= 0.25
            ),
            describe_group(files, "up to half", lambda one: 0.25 < one.word_overlap <= 0.5),
            describe_group(files, "more than half", lambda one: one.word_overlap > 0.5),
        ],
    }


def upper_bounds(found: Repositories) -> dict[str, float]:
    """Return the recall of each hypothetical ranking, such as a perfect order."""
    return {
        "first ten of rootle and BM25 together": recall(
            found, lambda one: one.is_found(ROOTLE) or one.is_found(BASELINE)
        ),
        "perfect order of rootle's candidates": recall(
            found, lambda one: one.is_found(ROOTLE, MAX_CANDIDATES)
        ),
        "perfect order of as many files of BM25": recall(
            found, lambda one: one.is_found(BASELINE, MAX_CANDIDATES)
        ),
        "all files that share a word with the commit": recall(
            found, lambda one: one.word_overlap > 0
        ),
    }


def is_in_first_ten(system: str) -> Callable[[TargetFile], bool]:
    return lambda one: one.is_found(system)


def recall(found: Repositories, is_found: Callable[[TargetFile], bool]) -> float:
    """Return the share of found files, averaged over commits, then over repositories."""
    return mean(
        mean(mean(map(is_found, commit.files)) for commit in repository) for repository in found
    )


def describe_group(
    files: Sequence[TargetFile], name: str, belongs: Callable[[TargetFile], bool]
) -> dict[str, Any]:
    """Return the size of a group of target files and the share of it that is found."""
    group = [one for one in files if belongs(one)]
    return {
        "name": name,
        "share": len(group) / len(files),
        **{system: mean(map(is_in_first_ten(system), group)) for system in (ROOTLE, BASELINE)},
        "candidates": mean(one.is_found(ROOTLE, MAX_CANDIDATES) for one in group),
    }


def format_report(report: dict[str, Any]) -> str:
    """Return the lines of the report: recalls, upper bounds and groups of files."""
    recalls = report["recall"]
    lines = [
        f"{report['commits']} commits, {report['files']} files, at most {report['max_files']} per "
        f"commit; {report['added_files']} more files were added and are not targets"
    ]
    lines += [
        f"{name:44} recall@10 {value:.3f}  {recalls[ROOTLE] / value:.2f} x"
        for name, value in recalls.items()
    ]
    lines.append(f"{f'wanted: {WANTED_RATIO} x bm25':44} recall@10 {report['wanted']:.3f}")
    lines += [
        f"{name:44} {value:.3f}  {value / recalls[BASELINE]:.2f} x bm25"
        for name, value in report["upper_bounds"].items()
    ]
    lines.append(
        f"{WANTED_RATIO} x bm25 exceeds 1 in {report['unreachable_repositories']} repositories; "
        f"bm25 finds all files of {report['answered_by_baseline']:.0%} of the commits"
    )
    lines += [
        f"{row['name']:32} {row['share']:.1%} of the files  rootle {row[ROOTLE]:.3f}  "
        f"bm25 {row[BASELINE]:.3f}  candidates {row['candidates']:.3f}"
        for row in report["groups"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
