"""How much recall of changed files is left to gain, and by what.

    python -m benchmarks.history.oracle_recall CLONES WORK [--only tmux,viper] [--split train|held-out]
        [--limit N] [--json FILE]

The questions, trees and means of `history/changed_files.py`; each system gives as many files as rootle has
candidates, not only ten. BM25 answers in both of its forms: the best window of each file, and
windows that compete, so that a file may take several of ten places. A wanted file shares a word
with its commit as `common/labels.py` counts words, in its path or its text.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common.bm25 import Bm25
from benchmarks.common.labels import shared_words
from benchmarks.history.changed_files import SPLITS, answer_history, ranks_of, wanted_repositories
from benchmarks.history.commit_questions import (
    CommitQuestion,
    git,
    is_test,
    questions_of,
    regular_files,
)
from benchmarks.quality.public_benchmark import OURS, TOP_K
from rootle import App, Config, SearchQuery

CANDIDATES = 60  # rootle looks at no more files
FILES, WINDOWS = "bm25", "bm25 windows"
WANTED_RATIO = 1.3


@dataclass(frozen=True)
class Wanted:
    """A file that a commit changed, and where each system has it; None: not among its files."""

    path: str
    is_test: bool
    shared: float  # the share of the commit's words that it has
    ranks: dict[str, int | None]

    def is_found(self, name: str, within: int = TOP_K) -> bool:
        rank = self.ranks[name]
        return rank is not None and rank <= within


@dataclass(frozen=True)
class Commit:
    """One question."""

    files: tuple[Wanted, ...]
    added: int  # files that its parent lacks


Repositories = Sequence[Sequence[Commit]]


def main() -> None:
    args = parse_arguments()
    logging.getLogger("rootle").setLevel(logging.ERROR)
    found = {}
    for repo in wanted_repositories(args.only, args.split):
        clone = args.clones / repo["name"]
        questions = questions_of(clone, repo["revision"], args.limit)
        found[repo["name"]] = commits_of(clone, args.work / repo["name"], questions)
        print(repo["name"], file=sys.stderr)
    report = limits_of(list(found.values()))
    print_limits(report)
    if args.json:
        rows = {name: [asdict(one) for one in of] for name, of in found.items()}
        args.json.write_text(json.dumps({**report, "repositories": rows}, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("work", type=Path, help="gets a work tree and an index a repository")
    parser.add_argument("--only", default="")
    parser.add_argument("--split", choices=SPLITS)
    parser.add_argument("--limit", type=int, default=15, help="questions a repository")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def commits_of(clone: Path, work: Path, questions: Sequence[CommitQuestion]) -> list[Commit]:
    floor, commits = Bm25(), []
    for question, app in answer_history(clone, work, questions, Config(max_limit=CANDIDATES)):
        floor.read(app.root)
        ranks = {
            name: ranks_of(question.files, files)
            for name, files in answers_to(question.text, app, floor).items()
        }
        commits.append(
            Commit(
                tuple(
                    Wanted(
                        path,
                        is_test(path),
                        shared_words(question.text, f"{path}\n{text_of(app.root / path)}"),
                        {name: of_one[at] for name, of_one in ranks.items()},
                    )
                    for at, path in enumerate(question.files)
                ),
                added_files(clone, question),
            )
        )
    return commits


def answers_to(text: str, app: App, floor: Bm25) -> dict[str, list[str]]:
    """The files of each system, best first."""
    results = app.search(SearchQuery(text, limit=CANDIDATES)).results
    windows = floor.search(text, CANDIDATES, per_file=True)
    return {
        OURS: [result.file_path for result in results],
        FILES: [window.path for window in windows],
        WINDOWS: [window.path for window in floor.search(text, TOP_K)],
    }


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def added_files(clone: Path, question: CommitQuestion) -> int:
    changed = git(clone, "diff-tree", "-r", "-M", "--diff-filter=A", "--name-only", "-z",
                  question.parent, question.commit)  # fmt: skip
    return len(set(filter(None, changed.split("\0"))) - regular_files(clone, question.parent))


def limits_of(found: Repositories) -> dict:
    """All figures; recalls are averaged over the commits of a repository, then repositories."""
    commits = [commit for of_one in found for commit in of_one]
    files = [one for commit in commits for one in commit.files]
    floor = recall(found, lambda one: one.is_found(FILES))
    return {
        "commits": len(commits),
        "files": len(files),
        "addedFiles": sum(commit.added for commit in commits),
        "mostFiles": max(len(commit.files) for commit in commits),
        "recall": {name: recall(found, at_ten(name)) for name in (OURS, FILES, WINDOWS)},
        "wanted": WANTED_RATIO * floor,
        "ceilings": {
            "rootle's first ten and BM25's together": recall(
                found, lambda one: one.is_found(OURS) or one.is_found(FILES)
            ),
            "perfect order of rootle's candidates": recall(
                found, lambda one: one.is_found(OURS, CANDIDATES)
            ),
            "perfect order of as many files of BM25's": recall(
                found, lambda one: one.is_found(FILES, CANDIDATES)
            ),
            "all that share a word with the commit": recall(found, lambda one: one.shared > 0),
        },
        "outOfReach": sum(WANTED_RATIO * recall([of_one], at_ten(FILES)) > 1 for of_one in found),
        "answeredByFloor": statistics.fmean(
            all(one.is_found(FILES) for one in commit.files) for commit in commits
        ),
        "shares": [
            share_of(files, "tests", lambda one: one.is_test),
            share_of(files, "no tests", lambda one: not one.is_test),
            share_of(files, "shares no word with the commit", lambda one: one.shared == 0),
            share_of(files, "at most a quarter of its words", lambda one: 0 < one.shared <= 0.25),
            share_of(files, "at most half", lambda one: 0.25 < one.shared <= 0.5),
            share_of(files, "more", lambda one: one.shared > 0.5),
        ],
    }


def at_ten(name: str) -> Callable[[Wanted], bool]:
    return lambda one: one.is_found(name)


def recall(found: Repositories, is_met: Callable[[Wanted], bool]) -> float:
    """The share of a commit's files; averaged over a repository, then over repositories."""
    return statistics.fmean(
        statistics.fmean(share(map(is_met, commit.files)) for commit in of_one) for of_one in found
    )


def share_of(files: Sequence[Wanted], name: str, belongs: Callable[[Wanted], bool]) -> dict:
    """How many of the wanted files belong to a group, and the share of them that is found."""
    group = [one for one in files if belongs(one)]
    return {
        "name": name,
        "share": len(group) / len(files),
        **{system: share(map(at_ten(system), group)) for system in (OURS, FILES)},
        "candidates": share(one.is_found(OURS, CANDIDATES) for one in group),
    }


def share(values: Iterable[bool]) -> float:
    values = list(values)
    return statistics.fmean(values) if values else 0.0


def print_limits(report: dict) -> None:
    recalls = report["recall"]
    print(f"{report['commits']} commits, {report['files']} files, at most {report['mostFiles']} of"
          f" one; {report['addedFiles']} more were added and are not asked for")  # fmt: skip
    for name, value in recalls.items():
        print(f"{name:44} recall@10 {value:.3f}  {recalls[OURS] / value:.2f} x")
    print(f"{'wanted: 1.3 x bm25':44} recall@10 {report['wanted']:.3f}")
    for name, value in report["ceilings"].items():
        print(f"{name:44} {value:.3f}  {value / recalls[FILES]:.2f} x bm25")
    print(f"1.3 x bm25 is above 1 in {report['outOfReach']} repositories; "
          f"bm25 has all files of {report['answeredByFloor']:.0%} of the commits")  # fmt: skip
    for row in report["shares"]:
        print(f"{row['name']:32} {row['share']:.1%} of the files  rootle {row[OURS]:.3f}  "
              f"bm25 {row[FILES]:.3f}  candidates {row['candidates']:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
