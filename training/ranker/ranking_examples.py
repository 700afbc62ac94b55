"""Questions with the ranking inputs that rootle gathers for them: the training data of the ranker.

A question is asked in several queries, each of which has a "voice": "user" for the words of a
person, "agent" for the words of a language model, and "other" for queries that are used only for
training. For questions of the public benchmark (voice "other") and synthetic ones (voice "agent"),
the program `training.questions.agent_voice` composes a query. Each example has the inputs of the
ranking, the wanted files and lines, and the lines that rootle would show from each of the first
files. The test split of the labels and the other half of the public benchmark are never read here;
the held-out histories are read only by `release_gate`.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, Literal

from benchmarks.common.internals import open_agent
from benchmarks.common.labels import (
    LABELS,
    LARGE_LABELS,
    LabeledRepository,
    is_hard,
    labeled_repositories,
)
from benchmarks.common.metrics import TOP_K, Hit, LineRange, ndcg
from benchmarks.common.public_questions import public_repositories
from benchmarks.common.rootle_search import indexed_app, make_hit
from benchmarks.history.changed_files import history_repositories
from benchmarks.history.commit_questions import select_questions
from benchmarks.history.work_trees import check_out, open_tree
from benchmarks.quality.agent_queries import (
    RECORDED,
    RECORDED_RENAMED,
    Queries,
    read_queries,
)
from benchmarks.quality.large_repositories import LARGE_QUERIES
from benchmarks.renaming.labels import renamed_repository

from rootle import App, Config, SearchQuery, open_app
from rootle.errors import QueryError
from rootle.rank.rankers.features_ranker import RankedFiles, rank_files
from rootle.rank.rankers.registry import FEATURES, Ranker
from rootle.rank.ranking_inputs import RankingInputs
from training.questions.agent_voice import Lines, agent_query, names_in

SHOWN_FILES: Final = 30  # files per question whose shown lines are kept
COMMITS_PER_TREE: Final = 10  # maximum questions that share a work tree, to index fewer trees

# Each name is that of a recording: queries that models sent after reading a description of the
# search tool that differs from the released one. These queries have the voice "other": they are
# used only for training.
WORDINGS: Final = ("passage", "words-and-names", "sentence-and-terms", "words-and-expected")
WORDINGS_RENAMED: Final = ("renamed-words-and-names",)

# Questions that the labeled and the public repositories cannot answer, and the queries that models
# sent for them and for a part of the public benchmark.
UNANSWERABLE: Final = Path(__file__).parents[1] / "questions/unanswerable.jsonl"
RECORDED_FOR_TRAINING: Final = Path(__file__).parents[1] / "questions/agent_queries.jsonl"

Source = Literal["bench", "labels", "renamed", "large", "unanswerable", "history", "synthetic"]
Voice = Literal["user", "agent", "other"]
Recordings = Sequence[tuple[Voice, Queries]]
TargetLines = tuple[str, int, int]  # path, first and last line; 0, 0: the whole file


@dataclass(frozen=True)
class RankingExample:
    """One question with what rootle gathered for it."""

    source: Source
    repository: str
    kind: str
    is_hard: bool
    targets: tuple[tuple[TargetLines, ...], ...]  # each target has one or more equivalent places
    inputs: RankingInputs
    shown: Mapping[str, tuple[LineRange, ...]]  # path -> the lines that would be shown
    voice: Voice = "user"

    def answers(self, file: int) -> bool:
        """Return whether a file, given by its number in the inputs, answers the question."""
        return any(self.meets(file, lines) for target in self.targets for lines in target)

    def meets(self, file: int, wanted: TargetLines) -> bool:
        """Return whether a file matches a target, by its shown lines or (for "bench") its path."""
        path, start, end = wanted
        if self.inputs.files.paths[file] != path:
            return False
        by_file = self.source == "bench" or not end
        return by_file or Hit(path, self.shown.get(path, ())).overlaps(start, end)


class InputRecorder:
    """Searches one app with a ranker that records its inputs."""

    def __init__(self, app: App) -> None:
        self._recorded: list[RankingInputs] = []
        ranker = Ranker("features", self._rank, FEATURES.score_spans, None)
        self._agent = open_agent(app, Config(enable_cache=False), ranker=ranker)

    def search(self, query: str) -> tuple[RankingInputs, dict[str, tuple[LineRange, ...]]]:
        """Return the ranking inputs of a query, and the lines shown from the first files."""
        response = self._agent.search(SearchQuery(query, limit=SHOWN_FILES))
        shown = {hit.path: hit.ranges for hit in map(make_hit, response.results)}
        return self._recorded[-1], shown

    def _rank(self, inputs: RankingInputs) -> RankedFiles:
        self._recorded = [inputs]
        return rank_files(inputs)


def public_examples(bench: Path, checkouts: Path, work: Path) -> Iterator[RankingExample]:
    """Yield examples from the development half of the public benchmark, in all voices.

    The voice "other" has the queries that a program composed.
    """
    recorded = read_queries(RECORDED_FOR_TRAINING)
    for repository in public_repositories(bench, checkouts):
        name, questions = repository.name, repository.questions
        places = [
            [(one.path, one.start_line, one.end_line) for one in question.targets]
            for question in questions
        ]
        asked = [(question.query, question.category) for question in questions]
        composed = compose_queries(repository.root, asked, places)
        with indexed_app(repository.root, work / "bench" / name) as app:
            recorder = InputRecorder(app)
            rows = zip(asked, places, composed, strict=True)
            for number, ((query, kind), lines, other) in enumerate(rows, start=1):
                targets = tuple((place,) for place in lines)
                queries: list[tuple[Voice, str]] = [("user", query), ("other", other)]
                key = f"{name}-{number}"
                queries += [("agent", recorded[key])] if key in recorded else []
                for voice, text in queries:
                    found = recorder.search(text)
                    yield RankingExample("bench", name, kind, False, targets, *found, voice)


def compose_queries(
    root: Path, asked: Sequence[tuple[str, str]], places: Sequence[Sequence[Lines]]
) -> list[str]:
    """Return each question, given with its kind, as a language model might send it.

    `places` are the lines that answer each question. Wrong names come from other answers.
    """
    named = [names_in(root, lines) for lines in places]
    every = sorted({name for names in named for name in names})
    return [
        agent_query(
            query,
            kind,
            names,
            [name for name in every if name not in names],
            random.Random(query),  # the same query for every run
            lines[0][0] if lines else "",
        )
        for (query, kind), names, lines in zip(asked, named, places, strict=True)
    ]


def label_examples(checkouts: Path, renamed: Path | None, work: Path) -> Iterator[RankingExample]:
    """Yield examples from the tune split of the labels, including unanswerable questions.

    With `renamed`, the copies with renamed identifiers follow, as another source.
    """
    original = recordings(RECORDED, WORDINGS)
    for repository in labeled_repositories(checkouts, "tune"):
        yield from voiced_examples("labels", repository, original, work)
    if renamed is not None:
        of_copies = recordings(RECORDED_RENAMED, WORDINGS_RENAMED)
        for repository in labeled_repositories(checkouts, "tune"):
            copy = renamed_repository(renamed, repository)
            yield from voiced_examples("renamed", copy, of_copies, work)


def recordings(chosen: Path, wordings: Sequence[str]) -> Recordings:
    """Return the queries that models sent with the chosen tool description, then with others."""
    others = [read_queries(LABELS / "wordings" / f"{name}.jsonl") for name in wordings]
    return [("agent", read_queries(chosen)), *(("other", queries) for queries in others)]


def voiced_examples(
    source: Source, repository: LabeledRepository, recorded: Recordings, work: Path
) -> Iterator[RankingExample]:
    """Yield each labeled question of a repository in the user's words, then as recorded."""
    name, root = repository.name, repository.root
    with indexed_app(root, work / source / name) as app:
        recorder = InputRecorder(app)
        for number, label in enumerate(repository.labels, start=1):
            targets = tuple(
                tuple((span.path, span.start_line, span.end_line) for span in target)
                for target in label.targets
            )
            hard = is_hard(label, root)
            queries: list[tuple[Voice, str]] = [("user", label.query)]
            key = f"{name}-{number}"
            queries += [(voice, sent[key]) for voice, sent in recorded if key in sent]
            for voice, query in queries:
                found = recorder.search(query)
                yield RankingExample(source, name, label.kind, hard, targets, *found, voice)


def large_examples(checkouts: Path | None, work: Path) -> Iterator[RankingExample]:
    """Yield examples from the tune split of the labels of large repositories."""
    if checkouts is not None:
        recorded: Recordings = [("agent", read_queries(LARGE_QUERIES))]
        for repository in labeled_repositories(checkouts, "tune", labels=LARGE_LABELS):
            yield from voiced_examples("large", repository, recorded, work)


def unanswerable_examples(
    bench: Path, checkouts: Path, labels: Path, large: Path | None, work: Path
) -> Iterator[RankingExample]:
    """Yield the questions that their repositories cannot answer, in the voices "user" and "agent".

    Repositories that are not checked out and queries without any result are skipped.
    """
    recorded = read_queries(RECORDED_FOR_TRAINING)
    roots = {one.name: ("bench", one.root) for one in public_repositories(bench, checkouts)}
    for one in labeled_repositories(labels, "tune"):
        roots[one.name] = ("labels", one.root)
    if large is not None:
        for one in labeled_repositories(large, "tune", labels=LARGE_LABELS):
            roots[one.name] = ("large", one.root)
    records = map(json.loads, UNANSWERABLE.read_text(encoding="utf-8").splitlines())
    for name, questions in groupby(records, key=itemgetter("repository")):
        if name not in roots:
            continue
        source, root = roots[name]
        with indexed_app(root, work / source / name) as app:
            recorder = InputRecorder(app)
            for one in questions:
                queries: tuple[tuple[Voice, str], ...] = (
                    ("user", one["query"]),
                    ("agent", recorded[one["id"]]),
                )
                for voice, query in queries:
                    inputs, shown = recorder.search(query)
                    if len(inputs.files.ids):
                        yield RankingExample(
                            "unanswerable", name, "none", False, (), inputs, shown, voice
                        )


def history_examples(
    clones: Path, work: Path, limit: int, split: str = "train"
) -> Iterator[RankingExample]:
    """Yield commits with their changed files; up to ten commits share the first one's work tree."""
    for repository in history_repositories(frozenset(), split):
        name = repository.name
        clone = clones / name
        questions = select_questions(clone, repository.revision, limit)
        folder = work / "history" / name
        tree = open_tree(clone, folder / "tree")
        with open_app(tree, index_dir=folder / "index") as app:
            for start in range(0, len(questions), COMMITS_PER_TREE):
                group = questions[start : start + COMMITS_PER_TREE]
                check_out(tree, group[0].parent)
                app.index()
                recorder = InputRecorder(app)
                for one in group:
                    existing = [path for path in one.files if (tree / path).exists()]
                    targets = tuple(((path, 0, 0),) for path in existing)
                    if targets:
                        found = recorder.search(one.text)
                        yield RankingExample("history", name, "history", False, targets, *found)


def synthetic_examples(made: Path, work: Path) -> Iterator[RankingExample]:
    """Yield examples from the output of `generate_questions`, in the voices "user" and "agent"."""
    for folder in sorted(path.parent for path in made.glob("*/questions.jsonl")):
        name, root = folder.name, folder / "repo"
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        asked = [(one["query"], one["kind"]) for one in records]
        composed = compose_queries(root, asked, [one["targets"] for one in records])
        with indexed_app(root, work / "synthetic" / name) as app:
            recorder = InputRecorder(app)
            for one, other in zip(records, composed, strict=True):
                targets = tuple(((path, start, end),) for path, start, end in one["targets"])
                queries: tuple[tuple[Voice, str], ...] = (("user", one["query"]), ("agent", other))
                for voice, query in queries:
                    try:
                        found = recorder.search(query)
                    except QueryError:
                        continue  # the words form invalid query syntax
                    kind, hard = one["kind"], one["hard"]
                    yield RankingExample("synthetic", name, kind, hard, targets, *found, voice)


def cached_examples(args: argparse.Namespace) -> list[RankingExample]:
    """Return the examples for the options of `train_ranker`, cached in the work folder."""
    bench, checkouts = args.bench
    sets: Mapping[Source, Callable[[], Iterator[RankingExample]]] = {
        "bench": partial(public_examples, bench, checkouts, args.work),
        "labels": partial(label_examples, args.labels, args.renamed, args.work),
        "large": partial(large_examples, args.large, args.work),
        "unanswerable": partial(
            unanswerable_examples, bench, checkouts, args.labels, args.large, args.work
        ),
        "synthetic": partial(synthetic_examples, args.synthetic, args.work),
    }
    examples: list[RankingExample] = []
    for source, make in sets.items():
        path = args.work / f"{source}.pickle"
        if not path.exists():
            args.work.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pickle.dumps(list(make())))
        examples += pickle.loads(path.read_bytes())
    return examples


def example_ndcg(example: RankingExample, order: Sequence[int]) -> float:
    """Return NDCG@10 of an order of files; each file counts for one target."""
    ranks: set[int] = set()
    for target in example.targets:
        for rank, file in enumerate(order[:TOP_K], 1):
            if rank not in ranks and any(example.meets(file, lines) for lines in target):
                ranks.add(rank)
                break
    return ndcg(ranks, len(example.targets))
