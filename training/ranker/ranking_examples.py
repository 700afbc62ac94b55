"""Questions with the evidence that rootle gathers for them: what the ranker is trained on.

Every set yields `Asked`: what the ranking saw, which files and lines are wanted, and the lines that
rootle would show of each of the first files. Nothing of the labels' test part, of the histories
held out or of the benchmark's other half is read here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rootle import App, Config, SearchQuery, open_app
from rootle.errors import QueryError
from rootle.rank.rankers.feature_sum import RankedFiles, rank_files
from rootle.rank.rankers.registry import FEATURES, Ranker
from rootle.rank.ranking_inputs import RankingInputs
from rootle.search.factory import open_agent

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"

from benchmarks.common.labels import LABELS, is_hard, read_labels  # noqa: E402
from benchmarks.history import changed_files as history  # noqa: E402
from benchmarks.history import commit_questions as history_questions  # noqa: E402
from benchmarks.quality import public_benchmark as quality  # noqa: E402

SHOWN = 30  # files of which the lines are kept
COMMITS_A_TREE = 10  # asked of the tree before the first of them, so that few trees are indexed

Lines = tuple[str, int, int]  # path, first and last line; 0 and 0 for the whole file


@dataclass(frozen=True)
class Asked:
    """One question and what was found for it."""

    source: str  # "bench", "labels", "history" or "synthetic"
    repository: str
    kind: str
    hard: bool
    targets: tuple[tuple[Lines, ...], ...]  # each with its equivalents
    evidence: RankingInputs
    shown: dict[str, tuple[tuple[int, int], ...]]  # path -> the lines that would be shown


class Asker:
    """Asks one app, with a ranker that keeps what it is given."""

    def __init__(self, app: App) -> None:
        self._seen: list[RankingInputs] = []
        ranker = Ranker("features", self._rank, FEATURES.score_spans, None)
        config = Config(enable_cache=False)
        # The app's own agent has the ranker of the configuration.
        snapshots, model = app._container.indexer().snapshot, app._container.embedder  # noqa: SLF001
        self._agent = open_agent(snapshots, model, config, ranker=ranker)

    def ask(self, text: str) -> tuple[RankingInputs, dict[str, tuple[tuple[int, int], ...]]]:
        response = self._agent.search(SearchQuery(text, limit=SHOWN))
        shown = {
            result.file_path: (
                (result.start_line, result.end_line),
                *((span.start_line, span.end_line) for span in result.more_spans),
            )
            for result in response.results
        }
        return self._seen[-1], shown

    def _rank(self, evidence: RankingInputs) -> RankedFiles:
        self._seen = [evidence]
        return rank_files(evidence)


def of_bench(bench: Path, repositories: Path, work: Path) -> Iterator[Asked]:
    """The development half of the public benchmark."""
    for repo in json.loads((bench / "repos.json").read_text()):
        name, inside = repo["name"], repo.get("benchmark_root") or ""
        root = repositories / name / inside
        with open_app(root, index_dir=work / "bench" / name) as app:
            app.index()
            asker = Asker(app)
            for one in json.loads((bench / "annotations" / f"{name}.json").read_text()):
                wanted = (*one["relevant"], *one["secondary"])
                targets = tuple((quality.target(entry, root, inside),) for entry in wanted)
                found = asker.ask(one["query"])
                yield Asked("bench", name, one.get("category", ""), False, targets, *found)


def of_labels(checkouts: Path, work: Path) -> Iterator[Asked]:
    """The tune part of our own labels, those without an answer included."""
    for repo in json.loads((LABELS / "repositories.json").read_text()):
        if repo["split"] != "tune":
            continue
        name = repo["name"]
        root = checkouts / name
        with open_app(root, index_dir=work / "labels" / name) as app:
            app.index()
            asker = Asker(app)
            for label in read_labels(name):
                targets = tuple(
                    tuple((span.path, span.start_line, span.end_line) for span in target)
                    for target in label.targets
                )
                found = asker.ask(label.query)
                yield Asked("labels", name, label.kind, is_hard(label, root), targets, *found)


def of_histories(clones: Path, work: Path, limit: int, split: str = "train") -> Iterator[Asked]:
    """Commits: which files of the tree some commits earlier did each change?"""
    for repo in history.wanted_repositories("", split):
        clone = clones / repo["name"]
        questions = history_questions.questions_of(clone, repo["revision"], limit)
        folder = work / "history" / repo["name"]
        tree = history.open_tree(clone, folder / "tree")
        with open_app(tree, index_dir=folder / "index") as app:
            for start in range(0, len(questions), COMMITS_A_TREE):
                some = questions[start : start + COMMITS_A_TREE]
                history.check_out(tree, some[0].parent)
                app.index()
                asker = Asker(app)
                for one in some:
                    there = tuple(((path, 0, 0),) for path in one.files if (tree / path).exists())
                    if there:
                        found = asker.ask(one.text)
                        yield Asked("history", repo["name"], "history", False, there, *found)


def of_synthetic(made: Path, work: Path) -> Iterator[Asked]:
    """The repositories that `questions/generate_questions.py` made."""
    for folder in sorted(path.parent for path in made.glob("*/questions.jsonl")):
        with open_app(folder / "repo", index_dir=work / "synthetic" / folder.name) as app:
            app.index()
            asker = Asker(app)
            for line in (folder / "questions.jsonl").read_text().splitlines():
                one = json.loads(line)
                targets = tuple(((path, start, end),) for path, start, end in one["targets"])
                try:
                    found = asker.ask(one["query"])
                except QueryError:
                    continue  # its words happen to be signs of a search box
                yield Asked("synthetic", folder.name, one["kind"], one["hard"], targets, *found)


def collected(sets: Sequence[Callable[[], Iterator[Asked]]]) -> list[Asked]:
    return [asked for one in sets for asked in one()]


def ndcg(asked: Asked, order: Sequence[int]) -> float:
    """NDCG@10 by file for the benchmark, by the lines shown for the labels."""
    ranks: set[int] = set()
    for target in asked.targets:
        for rank, at in enumerate(order[: quality.TOP_K], 1):
            if rank not in ranks and any(is_met(asked, at, lines) for lines in target):
                ranks.add(rank)
                break
    return quality.ndcg(ranks, len(asked.targets))


def is_met(asked: Asked, at: int, wanted: Lines) -> bool:
    path, start, end = wanted
    if asked.evidence.files.paths[at] != path:
        return False
    shown = asked.shown.get(path, ())
    by_file = asked.source == "bench" or not end
    return by_file or any(first <= end and start <= last for first, last in shown)
