"""What another embedding would give: alone, and in the whole ranking instead of ours or beside it.

    python -m training.embedding.teacher_benchmark CHECKOUTS MODEL --cache DIR [--only ninja,puma]

MODEL is what `embeddingModelID` takes, a folder with ONNX weights above all. CHECKOUTS holds the
repositories of our own labels; those of the tune part are asked. Chunks, words and candidates are
those of the index as it ships: only the cosines change, so that every difference is theirs. A
model's vectors are kept in the cache, which takes the time: they are made text by text, on as many
cores as the process may use.

Four cosines are compared: that of the shipped model, the other's as it is, the same moved to where
the shipped one's lie for each question (the rankings were fitted to those), and the mean of the
first and the last. Alone means MRR of the first chunk that answers and the share of targets among
the first ten chunks; the whole ranking is asked as `benchmarks/quality/labelled_questions.py` does.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.common.labels import LABELS, Label, is_hard, read_labels
from benchmarks.quality.labelled_questions import Judged, figures_of, judge
from benchmarks.quality.public_benchmark import Answer, found
from numpy.typing import NDArray

from rootle import Config, SearchQuery, open_app
from rootle.embed.factory import choose_model, open_model
from rootle.embed.static import StaticEmbedder
from rootle.index.local.dense_index import EmbeddedDense
from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import Neighbors
from rootle.ingest.analyze import embedded_text
from rootle.protocols import Embedder, Matrix, QueryEmbedder, Scores, Vector
from rootle.rank.rankers.registry import FEATURES, LEARNED, Ranker
from rootle.search.factory import open_agent
from rootle.text.terms import path_words
from training.embedding.dense_benchmark import reached

Cosines = Callable[[str], Scores]
Alone = list[tuple[float, float, bool]]  # reciprocal rank, recall, hard

_SAVED_TEXTS = 512  # at once, of about one length, so that little of a batch is padding


@dataclass(frozen=True)
class Repository:
    """One repository of the labels with its index and the vectors of both models."""

    root: Path
    labels: list[Label]
    snapshot: Snapshot
    texts: list[str]  # of the chunks, as they are embedded
    places: list[tuple[str, int, int]]  # path, first line, last line


class GivenCosines(EmbeddedDense):
    """The index of a snapshot with cosines that come from elsewhere."""

    def __init__(self, folder: Path, cosines: Cosines, asked: Asked) -> None:
        super().__init__(folder)
        self._cosines = cosines
        self._asked = asked

    def nearest(
        self,
        vector: Vector,
        k: int,
        files: Sequence[int] | None = None,
        *,
        is_alone: bool = True,  # noqa: ARG002
    ) -> Neighbors:
        scores = self._cosines(self._asked.text)
        return Neighbors(self.best(scores, k, files), vector, scores)


class Asked:
    """An embedder that notes what is asked, for whoever has the cosines."""

    fingerprint = "given"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.text = ""

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.text = texts[-1]
        return np.ones((len(texts), self.dimensions), np.float32)


def main() -> None:
    args = parse_arguments()
    config = Config(embedding_model_id=args.model)
    model = open_model(choose_model(config), config)
    alone: dict[str, Alone] = {}
    ranked: dict[str, dict[str, list[Judged]]] = {}
    for repo in json.loads((LABELS / "repositories.json").read_text()):
        name = repo["name"]
        if repo["split"] != "tune" or (args.only and name not in args.only):
            continue
        with opened(args.checkouts / name, name, args.cache) as repository:
            kept = args.cache / f"{Path(args.model).name}.{name}.npy"
            for which, cosines in compared(repository, model, kept).items():
                alone.setdefault(which, []).extend(ranks_alone(repository, cosines))
                for ranker in (FEATURES, LEARNED):
                    of_one = ranked.setdefault(f"{which}, {ranker.name}", {})
                    of_one[name] = ranks_whole(repository, cosines, ranker)
    for which, rows in alone.items():
        print(alone_row(which, rows))
    for which, judged in ranked.items():
        print(whole_row(which, judged))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("model")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    args.only = set(filter(None, args.only.split(",")))
    args.cache.mkdir(parents=True, exist_ok=True)
    return args


@contextmanager
def opened(root: Path, name: str, cache: Path) -> Iterator[Repository]:
    with open_app(root, index_dir=cache / "index" / name) as app:
        app.index()
        snapshot = app._container.indexer().snapshot()  # noqa: SLF001 - as ranker_data.py does
        ids, files = snapshot.dense.chunk_ids.tolist(), snapshot.dense.file_ids.tolist()
        rows, states = snapshot.chunks(ids), snapshot.files(set(files))
        texts, places = [], []
        for chunk_id, file_id in zip(ids, files, strict=True):
            row, path = rows[chunk_id], states[file_id].path
            body = snapshot.excerpts([(file_id, row.start, row.end)])[0]
            texts.append(embedded_text(path_words(path), body))
            places.append((path, row.start_line, row.end_line))
        yield Repository(root, read_labels(name), snapshot, texts, places)


def compared(repository: Repository, model: Embedder, kept: Path) -> Mapping[str, Cosines]:
    """By name the cosines of every chunk with a question."""
    shipped = StaticEmbedder()
    ours = by_cosine(shipped, shipped.embed(repository.texts))
    theirs = by_cosine(model, vectors_of(repository.texts, model, kept))

    def moved(text: str) -> Scores:
        wanted, given = ours(text), theirs(text)
        return (given - given.mean()) / given.std() * wanted.std() + wanted.mean()

    def both(text: str) -> Scores:
        return (ours(text) + moved(text)) / 2

    return {"ours": ours, "theirs": theirs, "theirs, moved": moved, "both": both}


def by_cosine(model: Embedder, vectors: Matrix) -> Cosines:
    of_questions: dict[str, Vector] = {}

    def cosines(text: str) -> Scores:
        if text not in of_questions:
            asks = isinstance(model, QueryEmbedder)
            of_questions[text] = model.embed_query(text) if asks else model.embed([text])[0]
        scores: Scores = (vectors @ of_questions[text]).astype(np.float32)
        return scores

    return cosines


def vectors_of(texts: Sequence[str], model: Embedder, kept: Path) -> Matrix:
    """One row a text; says how fast they are made on the cores that there are."""
    if not kept.exists():
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        rows = np.zeros((len(texts), model.dimensions), np.float16)
        started, busy = time.monotonic(), time.process_time()
        for start in range(0, len(order), _SAVED_TEXTS):
            some = order[start : start + _SAVED_TEXTS]
            rows[some] = model.embed([texts[at] for at in some])
        took, busy = time.monotonic() - started, time.process_time() - busy
        print(f"{kept.name}: {len(texts)} chunks, {len(texts) / took:.1f} a second,", end=" ")
        print(f"{len(texts) / busy:.1f} a second of one core", flush=True)
        np.save(kept, rows)
    wide: NDArray[np.float32] = np.load(kept).astype(np.float32)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def ranks_alone(repository: Repository, cosines: Cosines) -> Alone:
    rows = []
    for label in repository.labels:
        if label.targets:
            hits = [chunks_of(repository, target) for target in label.targets]
            rows.append((*reached(cosines(label.query), hits), is_hard(label, repository.root)))
    return rows


def chunks_of(repository: Repository, target: Sequence) -> set[int]:
    """The chunks that overlap any of a target's spans."""
    return {
        at
        for at, (path, first, last) in enumerate(repository.places)
        for span in target
        if path == span.path and first <= span.end_line and span.start_line <= last
    }


def ranks_whole(repository: Repository, cosines: Cosines, ranker: Ranker) -> list[Judged]:
    snapshot = repository.snapshot
    asked = Asked(snapshot.dense.dimensions)
    snapshot.dense = GivenCosines(snapshot.folder / "dense", cosines, asked)
    config = Config(enable_cache=False)
    agent = open_agent(lambda: snapshot, lambda: asked, config, ranker=ranker)
    answers = []
    for label in repository.labels:
        response = agent.search(SearchQuery(label.query))
        answers.append(Answer(tuple(map(found, response.results)), 0.0))
    return judge(repository.root, repository.labels, answers)


def alone_row(which: str, rows: Alone) -> str:
    every = np.mean([row[:2] for row in rows], axis=0)
    hard = np.mean([row[:2] for row in rows if row[2]], axis=0)
    return (
        f"alone: {which:24} MRR {every[0]:.3f} recall@10 {every[1]:.3f}"
        f"  hard: MRR {hard[0]:.3f} recall@10 {hard[1]:.3f}"
        f"  ({len(rows)} questions, {sum(row[2] for row in rows)} of them hard)"
    )


def whole_row(which: str, judged: dict[str, list[Judged]]) -> str:
    f = figures_of(judged)
    return (
        f"whole: {which:24} NDCG@10 by span {f['ndcgBySpan']:.3f} by file {f['ndcgByFile']:.3f}"
        f"  hit@10 {f['hit10BySpan']:.3f}  hard {f['hardHit10BySpan']:.3f}"
    )


if __name__ == "__main__":
    main()
