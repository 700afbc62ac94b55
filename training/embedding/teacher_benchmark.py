"""The possible gain from better embeddings: scores of another model, alone and in the ranking.

    python -m training.embedding.teacher_benchmark CHECKOUTS MODEL --cache DIR [--only ninja,puma]

MODEL is any value of `embeddingModelID`, usually a folder with ONNX weights. CHECKOUTS holds the
labeled repositories; the questions are those of the tune split. Chunks, words and candidates are
those of rootle's index; only the cosines change. The model's vectors, which take most of the time,
are cached.

Four kinds of cosines are compared: (1) those of the shipped model; (2) those of the other model;
(3) those of the other model, scaled for each query to the mean and standard deviation of the
shipped ones, to which the rankings were fitted; (4) the mean of (1) and (3). The lines that begin
with "alone" contain the MRR of the first chunk that overlaps an answer, and the share of targets
that the first ten chunks overlap; the whole ranking is scored as in `labelled_questions`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.common.arguments import CHECKOUTS, ONLY, command_parser
from benchmarks.common.internals import index_snapshot, open_agent
from benchmarks.common.labels import LabeledRepository, is_hard, labeled_repositories
from benchmarks.common.metrics import Answer
from benchmarks.common.rootle_search import indexed_app, make_hit
from benchmarks.quality.label_scores import QuestionScore, score_answers, summarize

from rootle import App, Config, SearchQuery
from rootle.embed.factory import choose_model, open_model
from rootle.embed.static import StaticEmbedder
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.vector_matrix.reader import EmbeddedDense
from rootle.ingest.index_records import embedded_text
from rootle.protocols import Embedder, Matrix, QueryEmbedder, Scores, Vector
from rootle.rank.rankers.registry import FEATURES, LEARNED, Ranker
from rootle.text.terms import path_words
from training.arguments import CACHE
from training.embedding.chunk_retrieval import (
    ChunkLines,
    ChunkScore,
    answering_chunks,
    format_scores,
    hard_scores,
    score_chunks,
)
from training.embedding.vector_cache import cached_vectors

Cosines = Callable[[str], Scores]  # cosines of a query with all chunks


@dataclass(frozen=True)
class IndexedRepository:
    """A labeled repository with its index and chunks."""

    labeled: LabeledRepository
    app: App
    snapshot: Snapshot
    texts: list[str]  # the embedded texts of the chunks
    chunks: list[ChunkLines]


class QueryRecorder:
    """An embedder that records the query, for which `SuppliedCosines` then returns scores."""

    fingerprint = "recorder"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.query = ""

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.query = texts[-1]
        return np.ones((len(texts), self.dimensions), np.float32)


class SuppliedCosines(EmbeddedDense):
    """The dense index of a snapshot, with cosines from a given function."""

    def __init__(self, folder: Path, cosines: Cosines, recorder: QueryRecorder) -> None:
        super().__init__(folder)
        self.is_large = False  # one exact scan
        self._cosines = cosines
        self._recorder = recorder

    def scores(self, vector: Vector, *, is_alone: bool = True) -> Scores:  # noqa: ARG002
        return self._cosines(self._recorder.query)


def main() -> None:
    args = parse_arguments()
    config = Config(embedding_model_id=args.model)
    model = open_model(choose_model(config), config)
    alone: dict[str, list[ChunkScore]] = {}
    ranked: dict[str, dict[str, list[QuestionScore]]] = {}
    for labeled in labeled_repositories(args.checkouts, "tune", args.only):
        with open_repository(labeled, args.cache) as repository:
            path = args.cache / f"{Path(args.model).name}.{labeled.name}.npy"
            for label, cosines in compare_cosines(repository, model, path).items():
                alone.setdefault(label, []).extend(score_alone(repository, cosines))
                for ranker in (FEATURES, LEARNED):
                    by_repository = ranked.setdefault(f"{label}, {ranker.name}", {})
                    by_repository[labeled.name] = score_ranking(repository, cosines, ranker)
    for label, scores in alone.items():
        print(f"alone: {label:24} {format_scores(scores)}")
        print(f"  hard: {'':24} {format_scores(hard_scores(scores))}")
    for label, by_repository in ranked.items():
        print(format_ranking(label, by_repository))


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, CHECKOUTS, ONLY, CACHE)
    parser.add_argument("model", metavar="MODEL", help="value of embeddingModelID")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    return args


@contextmanager
def open_repository(labeled: LabeledRepository, cache: Path) -> Iterator[IndexedRepository]:
    """Yield a repository with a current index in the cache."""
    with indexed_app(labeled.root, cache / "index" / labeled.name) as app:
        snapshot = index_snapshot(app)
        ids, file_ids = snapshot.dense.chunk_ids.tolist(), snapshot.dense.file_ids.tolist()
        rows, states = snapshot.chunks(ids), snapshot.files(set(file_ids))
        texts: list[str] = []
        chunks: list[ChunkLines] = []
        for chunk_id, file_id in zip(ids, file_ids, strict=True):
            row, path = rows[chunk_id], states[file_id].path
            body = snapshot.excerpts([(file_id, row.start, row.end)])[0]
            texts.append(embedded_text(path_words(path), body))
            chunks.append((path, row.start_line, row.end_line))
        yield IndexedRepository(labeled, app, snapshot, texts, chunks)


def compare_cosines(
    repository: IndexedRepository, model: Embedder, path: Path
) -> Mapping[str, Cosines]:
    """Return the four kinds of cosines by name."""
    static = StaticEmbedder()
    vectors = cached_vectors(path, repository.texts, model.dimensions, model.embed)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    shipped = query_cosines(static, static.embed(repository.texts))
    other = query_cosines(model, vectors / lengths)

    def score_scaled(query: str) -> Scores:
        return scale_like(other(query), shipped(query))

    def both(query: str) -> Scores:
        mean: Scores = (shipped(query) + score_scaled(query)) / np.float32(2)
        return mean

    return {"shipped": shipped, "other": other, "other, scaled": score_scaled, "both": both}


def scale_like(scores: Scores, reference: Scores) -> Scores:
    """Return scores scaled to the mean and the standard deviation of `reference`."""
    centered = (scores - scores.mean()) / scores.std()
    scaled: Scores = (centered * reference.std() + reference.mean()).astype(np.float32)
    return scaled


def query_cosines(model: Embedder, vectors: Matrix) -> Cosines:
    """Return a function that computes the cosines of a query and embeds each query once."""
    known: dict[str, Vector] = {}

    def cosines(query: str) -> Scores:
        if query not in known:
            if isinstance(model, QueryEmbedder):
                known[query] = model.embed_query(query)
            else:
                known[query] = model.embed([query])[0]
        scores: Scores = (vectors @ known[query]).astype(np.float32)
        return scores

    return cosines


def score_alone(repository: IndexedRepository, cosines: Cosines) -> list[ChunkScore]:
    """Return the outcome of each answerable question, with chunks ranked by cosine alone."""
    root = repository.labeled.root
    return [
        score_chunks(
            cosines(label.query),
            [answering_chunks(target, repository.chunks) for target in label.targets],
            is_hard=is_hard(label, root),
        )
        for label in repository.labeled.answerable()
    ]


def score_ranking(
    repository: IndexedRepository, cosines: Cosines, ranker: Ranker
) -> list[QuestionScore]:
    """Return the score of each question under the whole ranking."""
    snapshot = repository.snapshot
    recorder = QueryRecorder(snapshot.dense.dimensions)
    snapshot.dense = SuppliedCosines(snapshot.folder / "dense", cosines, recorder)
    agent = open_agent(
        repository.app, Config(enable_cache=False),
        open_embedder=lambda: recorder, snapshot=snapshot, ranker=ranker,
    )  # fmt: skip
    labels = repository.labeled.labels
    answers = [
        Answer(tuple(map(make_hit, agent.search(SearchQuery(label.query)).results)))
        for label in labels
    ]
    agent.close()
    return score_answers(repository.labeled.root, labels, answers)


def format_ranking(label: str, scores: Mapping[str, list[QuestionScore]]) -> str:
    f = summarize(scores)
    return (
        f"ranking: {label:24} NDCG@10 by span {f['span_ndcg']:.3f} by file {f['file_ndcg']:.3f}"
        f"  hit@10 {f['span_hit10']:.3f}  hard {f['hard_span_hit10']:.3f}"
    )


if __name__ == "__main__":
    main()
