"""Retrieval quality of static embeddings alone: chunks ranked by cosine.

    python -m training.embedding.dense_benchmark MODEL... --cache DIR [--bench BENCH REPOS]
        [--labels CHECKOUTS]

A MODEL is a folder with rows.npy, scales.npy and vocab.txt, or their common prefix. For the
development half of the public benchmark, the command prints NDCG@10 of files, each ranked by its
best chunk, as in `public_benchmark`. For the tune split of the labels, it prints the MRR of the
first chunk that overlaps an answer, and the share of targets that the first ten chunks overlap.
Each repository is split into chunks only once; the chunks are cached.
"""

from __future__ import annotations

import pickle
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.common.arguments import PUBLIC_BENCH, command_parser
from benchmarks.common.labels import LabeledRepository, labeled_repositories
from benchmarks.common.metrics import TOP_K, Hit, ndcg
from benchmarks.common.public_questions import (
    PublicRepository,
    public_repositories,
    target_ranks,
)
from numpy.typing import NDArray

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import split_text
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_source import FileReader
from rootle.text.terms import path_words
from training.arguments import CACHE, LABEL_CHECKOUTS
from training.embedding.chunk_retrieval import (
    ChunkLines,
    ChunkScore,
    answering_chunks,
    format_scores,
    hard_scores,
    score_chunks,
)
from training.embedding.contrastive import embed_counts
from training.embedding.text_counts import (
    SubwordCounts,
    count_subwords,
    row_numbers,
    text_matrix,
)
from training.embedding.weight_files import read_weights

Floats = NDArray[np.float32]

HARD_SHARE = 0.5
LONG_WORD_CHARS = 4


@dataclass(frozen=True, slots=True)
class Corpus:
    """The chunks of a repository with their subword counts."""

    chunks: list[ChunkLines]
    counts: list[SubwordCounts]


@dataclass(frozen=True, slots=True)
class StaticModel:
    """A table of subword rows."""

    rows: Floats
    row_of: Mapping[str, int]

    def embed(self, texts: Sequence[SubwordCounts]) -> Floats:
        """Return a unit vector per text."""
        return embed_counts(self.rows, text_matrix(texts, self.row_of, len(self.rows)))


def main() -> None:
    parser = command_parser(__doc__, PUBLIC_BENCH, LABEL_CHECKOUTS, CACHE)
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL", help="static tables")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    models = {location.name: load_model(location) for location in args.models}
    if args.bench:
        bench, repos = args.bench
        score_bench(public_repositories(bench, repos), args.cache, models)
    if args.labels:
        score_labels(labeled_repositories(args.labels, "tune"), args.cache, models)


def load_model(location: Path) -> StaticModel:
    rows, words = read_weights(location)
    return StaticModel(rows, row_numbers(words))


def cached_corpus(root: Path, name: str, cache: Path) -> Corpus:
    """Return the chunks of a repository from the cache, or cut and cache them."""
    path = cache / f"{name}.pickle"
    if path.exists():
        return Corpus(*pickle.loads(path.read_bytes()))
    corpus = cut_folder(root)
    path.write_bytes(pickle.dumps((corpus.chunks, corpus.counts)))
    return corpus


def cut_folder(root: Path) -> Corpus:
    """Return the chunks that rootle would index in a folder."""
    chunks, counts = [], []
    reader = FileReader(str(root), WalkRules())
    for entry in walk_files(root, WalkRules()).documents:
        found = reader.read(entry.uri)
        if isinstance(found, str):
            continue
        words = path_words(found.uri)
        for chunk in split_text(found.text, found.language, ChunkLimits()).chunks:
            chunks.append((found.uri, chunk.start_line, chunk.end_line))
            counts.append(count_subwords(f"{words}\n{found.text[chunk.start : chunk.end]}"))
    return Corpus(chunks, counts)


def score_bench(
    repositories: Sequence[PublicRepository], cache: Path, models: Mapping[str, StaticModel]
) -> None:
    """Print NDCG@10 of files on the public benchmark, by repository and on average."""
    figures: dict[str, list[float]] = {name: [] for name in models}
    for repository in repositories:
        corpus = cached_corpus(repository.root, f"bench-{repository.name}", cache)
        queries = [count_subwords(query) for query in repository.queries]
        for name, model in models.items():
            scores = model.embed(queries) @ model.embed(corpus.counts).T
            values = [
                ndcg(target_ranks(best_files(row, corpus.chunks), one.targets), len(one.targets))
                for row, one in zip(scores, repository.questions, strict=True)
            ]
            figures[name].append(statistics.mean(values))
        columns = (f"{name} {values[-1]:.3f}" for name, values in figures.items())
        print(f"{repository.name:20}", *columns)
    for name, values in figures.items():
        print(f"NDCG@10 of files, {len(values)} repositories, {name}: {np.mean(values):.4f}")


def best_files(scores: NDArray[Any], chunks: Sequence[ChunkLines]) -> list[Hit]:
    """Return the ten best files, each ranked by its best chunk."""
    hits: dict[str, Hit] = {}
    for number in np.argsort(-scores, kind="stable"):
        path, first, last = chunks[number]
        if path not in hits:
            hits[path] = Hit(path, ((first, last),))
            if len(hits) == TOP_K:
                break
    return list(hits.values())


def score_labels(
    repositories: Sequence[LabeledRepository], cache: Path, models: Mapping[str, StaticModel]
) -> None:
    """Print MRR and recall of chunks on labels, for all questions and for hard ones."""
    figures: dict[str, list[ChunkScore]] = {name: [] for name in models}
    for repository in repositories:
        corpus = cached_corpus(repository.root, f"labels-{repository.name}", cache)
        labels = repository.answerable()
        queries = [count_subwords(label.query) for label in labels]
        answers = [
            [answering_chunks(target, corpus.chunks) for target in label.targets]
            for label in labels
        ]
        hard = [
            shares_few_words(query, found, corpus)
            for query, found in zip(queries, answers, strict=True)
        ]
        for name, model in models.items():
            scores = model.embed(queries) @ model.embed(corpus.counts).T
            figures[name] += [
                score_chunks(row, found, is_hard=is_hard)
                for row, found, is_hard in zip(scores, answers, hard, strict=True)
            ]
    for name, found in figures.items():
        print(f"labels, tune split, {name}:", format_scores(found))
        print("  few shared words:", format_scores(hard_scores(found)))


def shares_few_words(query: SubwordCounts, answers: Sequence[set[int]], corpus: Corpus) -> bool:
    """Return whether no answering chunk has more than half of the query's longer words."""
    words = {word for word in query if len(word) >= LONG_WORD_CHARS}
    shared = [len(words & corpus.counts[number].keys()) for chunks in answers for number in chunks]
    return max(shared, default=0) <= HARD_SHARE * len(words)


if __name__ == "__main__":
    main()
