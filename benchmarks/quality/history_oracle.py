"""Measure the ranks, in several lists, of the commits that answer questions about the past.

    python -m benchmarks.quality.history_oracle REPOS [--split tune|test] [--only scrapy]
        [--indexes DIR] [--json FILE]

There are four lists: rootle's answer (at most 50 commits); all commits, ordered by the best vector
of their chunks; all commits, ordered by the words (BM25) of their chunks; and the commits that
changed one of the 20 files of code that rootle finds for the question, ordered by the best vector
of their changes to these files. "any" is the share of the questions for which one of the lists
contains an answer up to the given rank.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import INDEXES, JSON, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.internals import index_commits
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.common.statistics import mean
from benchmarks.history.labels import HARD, PLAIN, history_repositories, read_questions
from benchmarks.quality.history_questions import first_rank
from rootle import App, SearchQuery
from rootle.embed.static import StaticEmbedder
from rootle.index.local.snapshot import Snapshot
from rootle.protocols import WeightedTerm
from rootle.text.terms import STOP_WORDS, WORD
from rootle.types import COMMIT_URI

RANKS: Final = (10, 50, 100, 300)
LISTS: Final = ("answer", "vectors", "words", "code")
_ANSWERS: Final = 50
_FILES: Final = 20
_CHANGES: Final = 5_000  # maximum number of changes that are considered for one file


@dataclass(frozen=True)
class QuestionRanks:
    """For each list, the rank of the first commit that answers a question, or None."""

    split: str
    kind: str
    ranks: dict[str, int | None]


def main() -> None:
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, JSON)
    args = parser.parse_args()
    found = [one for repository in history_repositories(args.only, args.split)
             for one in rank_questions(repository.name, repository.split, args)]  # fmt: skip
    figures = summarize(found)
    for name, shares in figures.items():
        print(f"{name:20}", *(f"{key}={share:.2f}" for key, share in shares.items()))
    write_json(args.json, figures)


def rank_questions(name: str, split: str, args: argparse.Namespace) -> list[QuestionRanks]:
    """Return the ranks for all questions about one repository."""
    root: Path = args.repos / name
    with index_folder(args.indexes) as folder, indexed_app(root, folder / name) as app:
        commits = CommitLists(app, index_commits(app))
        found = [
            QuestionRanks(split, one.kind, commits.find_ranks(one.query, one.commits))
            for one in read_questions(name)
        ]
    print(f"{name} done", file=sys.stderr, flush=True)
    return found


class CommitLists:
    """The lists of commits for questions about one repository."""

    def __init__(self, app: App, index: Snapshot) -> None:
        self._app = app
        self._index = index
        self._embedder = StaticEmbedder()
        self._count = index.dense.count
        self._uris = {state.id: state.path for state in index.all_files()}

    def find_ranks(self, question: str, wanted: Iterable[str]) -> dict[str, int | None]:
        """Return the rank of the first wanted commit in each list."""
        chunks = self._rank_by_vector(question)
        lists = {
            "answer": self._answer(question),
            "vectors": self._list_commits(chunks),
            "words": self._list_commits(self._rank_by_words(question)),
            "code": self._rank_through_code(question, chunks),
        }
        uris = {f"{COMMIT_URI}{sha}" for sha in wanted}
        return {name: first_rank(uris, found, max(RANKS)) for name, found in lists.items()}

    def _answer(self, question: str) -> list[str]:
        query = SearchQuery(f"in:history {question}", limit=_ANSWERS)
        return [result.file_path for result in self._app.search(query).results]

    def _rank_by_vector(self, question: str) -> list[int]:
        vector = self._embedder.embed([question])[0]
        if not vector.any():
            return []
        chunks: list[int] = self._index.dense.nearest(vector, self._count).hits.ids.tolist()
        return chunks

    def _rank_by_words(self, question: str) -> list[int]:
        words = " ".join(w for w in WORD.findall(question) if w.lower() not in STOP_WORDS)
        terms = dict.fromkeys(self._index.sparse.stems(words))
        weighted = [WeightedTerm(term, 1.0) for term in terms]
        chunks: list[int] = self._index.sparse.query(weighted, self._count).ids.tolist()
        return chunks

    def _rank_through_code(self, question: str, chunks: Sequence[int]) -> list[str]:
        """Return the commits that changed the files found for the question, ordered by vectors."""
        query = SearchQuery(f"in:code {question}", limit=_FILES)
        places = {
            (commit, line)
            for result in self._app.search(query).results
            for commit, section in self._index.sections_with(result.file_path, _CHANGES)
            for line in range(section.start_line, section.end_line + 1)
        }
        rows = self._index.chunks(chunks)
        changed = [at for at in chunks if (rows[at].file_id, rows[at].start_line) in places]
        return self._list_commits(changed)

    def _list_commits(self, chunks: Sequence[int]) -> list[str]:
        rows = self._index.chunks(chunks)
        return [self._uris[at] for at in dict.fromkeys(rows[chunk].file_id for chunk in chunks)]


def summarize(found: Sequence[QuestionRanks]) -> dict[str, dict[str, float]]:
    """Return the share of questions that a list answers up to a rank, by kind and split."""
    figures = {}
    for kind in (PLAIN, HARD):
        for split in dict.fromkeys(one.split for one in found):
            own = [one.ranks for one in found if (one.kind, one.split) == (kind, split)]
            figures[f"{kind}, {split} split"] = dict(_shares(own))
    return figures


def _shares(ranks: Sequence[dict[str, int | None]]) -> Iterator[tuple[str, float]]:
    for limit in RANKS:
        for name in LISTS:
            yield f"{name}@{limit}", mean((one[name] or limit + 1) <= limit for one in ranks)
        yield (
            f"any@{limit}",
            mean(any((rank or limit + 1) <= limit for rank in one.values()) for one in ranks),
        )


if __name__ == "__main__":
    main()
