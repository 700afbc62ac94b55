"""Measure whether commit messages help to find the file that answers a person's question.

    python -m benchmarks.quality.message_evidence REPOS --histories DIR [--split tune|test]
        [--only jest] [--indexes DIR] [--json FILE]

REPOS holds the checkouts of the large labeled repositories. DIR holds a git repository with the
history of each, under the same name. The messages of the commits that changed a file are one
document about the file; a commit that changed n files has the weight 1/sqrt(n) for each of them.
Merges and commits with more than 20 files are left out. "messages" orders all files by BM25 over
these documents. "rootle" is the order of rootle's first 50 results, and each following row adds a
share of the BM25 score to the reciprocal of rootle's rank. The figures are the shares of the
answerable questions with a right file among the first 1, 3, 10 and 50.
"""

from __future__ import annotations

import math
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import HISTORIES, INDEXES, JSON, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.labels import LARGE_LABELS, labeled_repositories
from benchmarks.common.reports import write_json
from benchmarks.common.repositories import read_repositories
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.common.statistics import mean
from rootle import SearchQuery
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import TermTable, text_terms

DEPTHS: Final = (1, 3, 10, 50)
WEIGHTS: Final = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
_MAX_FILES: Final = 20
_MAX_MESSAGE: Final = 1_500  # maximum characters of a message that are used
_RESULTS: Final = 50
_K1: Final = 1.2
_B: Final = 0.75
# Added to a rank before its reciprocal is taken. Offsets of 1, 3 and 30 gave similar results.
_RANK_OFFSET: Final = 10
_TRAILERS: Final = ("signed-off-by:", "co-authored-by:", "reviewed-by:", "change-id:")


@dataclass(frozen=True)
class FoundFiles:
    """The right files of a question, and the files found by messages and by rootle, best first."""

    right: frozenset[str]
    messages: Sequence[str]
    results: Sequence[str]
    scores: Mapping[str, float]  # BM25 scores of the results


class MessageIndex:
    """BM25 over the messages of the commits that changed each file."""

    def __init__(self, documents: Mapping[str, Mapping[str, float]]) -> None:
        """Index the weights of the terms of each file."""
        self._count = len(documents)
        self._files_of: dict[str, list[tuple[str, float]]] = defaultdict(list)
        lengths = {path: sum(terms.values()) for path, terms in documents.items()}
        average = mean(list(lengths.values())) if lengths else 1.0
        for path, terms in documents.items():
            norm = _K1 * (1 - _B + _B * lengths[path] / average)
            for term, weight in terms.items():
                self._files_of[term].append((path, weight * (_K1 + 1) / (weight + norm)))

    def search(self, terms: Iterable[str]) -> dict[str, float]:
        """Return the scores of all files whose messages have one of the terms."""
        scores: dict[str, float] = defaultdict(float)
        for term in set(terms):
            found = self._files_of.get(term, [])
            rarity = math.log(1 + (self._count - len(found) + 0.5) / (len(found) + 0.5))
            for path, value in found:
                scores[path] += rarity * value
        return scores


def main() -> None:
    parser = command_parser(
        __doc__, REPOS, HISTORIES.with_settings(required=True), SPLIT, ONLY, INDEXES, JSON
    )
    args = parser.parse_args()
    revisions = {
        entry.name: entry.revision
        for entry in read_repositories(LARGE_LABELS / "repositories.json")
    }
    table = TermTable(open_stemmer())
    found: list[FoundFiles] = []
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only, LARGE_LABELS):
            history = args.histories / repository.name
            commits = read_commits(history, revisions[repository.name])
            index = MessageIndex(collect_terms(commits, table))
            with indexed_app(repository.root, indexes / repository.name) as app:
                for label in repository.answerable():
                    scores = index.search(text_terms(label.query, table).split())
                    ordered = sorted(scores, key=lambda path: (-scores[path], path))
                    response = app.search(SearchQuery(label.query, limit=_RESULTS))
                    results = [result.file_path for result in response.results]
                    found.append(
                        FoundFiles(
                            frozenset(span.path for span in label.spans()),
                            ordered[: DEPTHS[-1]],
                            results,
                            {path: scores.get(path, 0.0) for path in results},
                        )
                    )
    report = summarize(found)
    print(f"{len(found)} questions")
    for name, row in report.items():
        print(f"{name:16}", *(f"{share:.3f}" for share in row))
    write_json(args.json, report)


def read_commits(history: Path, revision: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each commit's message with the changed files that still exist at the revision."""
    git = ["git", "--git-dir", str(history)]
    listed = _run([*git, "ls-tree", "-r", "-z", "--name-only", revision])
    files = frozenset(listed.split("\0"))
    options = ["--no-merges", "--no-renames", "--name-only", "-z", "--format=%x01%B%x02"]
    for commit in _run([*git, "log", *options, revision]).split("\1")[1:]:
        message, _, names = commit.partition("\2")
        paths = [path for name in names.split("\0") if (path := name.strip("\n")) in files and path]
        if 0 < len(paths) <= _MAX_FILES:
            yield _strip_trailers(message), paths


def collect_terms(
    commits: Iterable[tuple[str, list[str]]], table: TermTable
) -> dict[str, dict[str, float]]:
    """Return the weights of the terms of each file."""
    documents: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for message, paths in commits:
        counts = Counter(text_terms(message, table).split())
        for path in paths:
            for term, count in counts.items():
                documents[path][term] += math.sqrt(count / len(paths))
    return documents


def summarize(found: Sequence[FoundFiles]) -> dict[str, list[float]]:
    """Return, for each order, the share of questions with a right file within each depth."""
    report = {
        "messages": _shares([(one.right, one.messages) for one in found]),
        "rootle": _shares([(one.right, one.results) for one in found]),
    }
    for weight in WEIGHTS:
        merged = [(one.right, merge(one, weight)) for one in found]
        report[f"rootle + {weight}"] = _shares(merged)
    return report


def merge(found: FoundFiles, weight: float) -> list[str]:
    """Return the results in the order of their reciprocal rank plus a share of their score."""
    best = max(found.scores.values(), default=0.0) or 1.0

    def value(ranked: tuple[int, str]) -> float:
        rank, path = ranked
        return 1 / (_RANK_OFFSET + rank) + weight * found.scores[path] / best / _RANK_OFFSET

    ordered = sorted(enumerate(found.results, 1), key=value, reverse=True)
    return [path for _, path in ordered]


def _shares(orders: Sequence[tuple[frozenset[str], Sequence[str]]]) -> list[float]:
    return [
        mean([not right.isdisjoint(paths[:depth]) for right, paths in orders]) for depth in DEPTHS
    ]


def _strip_trailers(message: str) -> str:
    lines = [line for line in message.splitlines() if not line.lower().startswith(_TRAILERS)]
    return "\n".join(lines)[:_MAX_MESSAGE]


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
