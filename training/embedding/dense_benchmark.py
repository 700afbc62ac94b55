"""How well a static embedding finds things alone: chunks ranked by cosine, nothing else.

    python -m training.embedding.dense_benchmark --bench BENCH REPOS --labels LABELS CHECKOUTS
        --cache DIR MODEL...

A MODEL is a folder with rows.npy, scales.npy and vocab.txt, or such files' common prefix. Of the
public benchmark's development half: NDCG@10 of files, each by its best chunk, as
`benchmarks/quality/public_benchmark.py` counts it. Of our own labels' tune part: MRR of the first chunk that
overlaps an answer, and the share of targets met by the first ten chunks. The chunks are cut once
and kept in the cache.
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from benchmarks.quality.public_benchmark import Found, ndcg, target, target_ranks
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from rootle.ingest.chunking.chunker import split_text
from rootle.ingest.chunking.limits import ChunkLimits
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_source import FileReader
from rootle.text.terms import MAX_WORD_CHARS, WORD, path_words, split_identifier
from training.embedding.weight_files import read_weights

Floats = NDArray[np.float32]
TOP_K = 10
HARD_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Corpus:
    """A repository's chunks: where they stand and their bags."""

    places: list[tuple[str, int, int]]  # path, first line, last line
    bags: list[dict[str, int]]


@dataclass(frozen=True, slots=True)
class Model:
    rows: Floats
    row_of: dict[str, int]

    def embed(self, bags: list[dict[str, int]]) -> Floats:
        """Sums of sqrt(count) x row, made unit length, one a bag."""
        row_of = self.row_of
        known = [[(row_of[w], n) for w, n in bag.items() if w in row_of] for bag in bags]
        indptr = np.cumsum([0, *map(len, known)])
        flat = np.array(list(chain.from_iterable(known)), np.int64).reshape(-1, 2)
        weights = np.sqrt(flat[:, 1]).astype(np.float32)
        matrix = csr_matrix((weights, flat[:, 0], indptr), (len(bags), len(self.rows)))
        vectors = np.asarray(matrix @ self.rows, np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def load_model(place: Path) -> Model:
    rows, words = read_weights(place)
    return Model(rows, {word: row for row, word in enumerate(words) if word})


def bag_of(text: str) -> dict[str, int]:
    words = (word for word in WORD.findall(text) if len(word) <= MAX_WORD_CHARS)
    return Counter(chain.from_iterable(map(split_identifier, words)))


def cut_folder(root: Path) -> Corpus:
    """The chunks that rootle would index of a folder."""
    places, bags = [], []
    reader = FileReader(str(root))
    for entry in walk_files(root, WalkRules()).documents:
        found = reader.read(entry.uri)
        if isinstance(found, str):
            continue
        place = path_words(found.uri)
        for piece in split_text(found.text, found.language, ChunkLimits()).chunks:
            places.append((found.uri, piece.start_line, piece.end_line))
            bags.append(bag_of(f"{place}\n{found.text[piece.start : piece.end]}"))
    return Corpus(places, bags)


def cached(root: Path, name: str, cache: Path) -> Corpus:
    kept = cache / f"{name}.pickle"
    if kept.exists():
        places, bags = pickle.loads(kept.read_bytes())
        return Corpus(places, bags)
    corpus = cut_folder(root)
    kept.write_bytes(pickle.dumps((corpus.places, corpus.bags)))
    return corpus


def score_bench(bench: Path, repos: Path, cache: Path, models: dict[str, Model]) -> None:
    figures: dict[str, list[float]] = {name: [] for name in models}
    for repo in json.loads((bench / "repos.json").read_text()):
        inside = repo.get("benchmark_root") or ""
        root = repos / repo["name"] / inside
        questions = json.loads((bench / "annotations" / f"{repo['name']}.json").read_text())
        corpus = cached(root, f"bench-{repo['name']}", cache)
        bags = [bag_of(question["query"]) for question in questions]
        targets = [
            [target(entry, root, inside) for entry in (*one["relevant"], *one["secondary"])]
            for one in questions
        ]
        for name, model in models.items():
            scores = model.embed(bags) @ model.embed(corpus.bags).T
            values = [
                ndcg(target_ranks(best_files(row, corpus), wanted), len(wanted))
                for row, wanted in zip(scores, targets, strict=True)
            ]
            figures[name].append(statistics.mean(values))
        print(f"{repo['name']:20}", *(f"{name} {of[-1]:.3f}" for name, of in figures.items()))
    for name, of_one in figures.items():
        print(f"NDCG@10 of files, {len(of_one)} repositories, {name}: {np.mean(of_one):.4f}")


def best_files(scores: Floats, corpus: Corpus) -> list[Found]:
    found: dict[str, Found] = {}
    for at in np.argsort(-scores, kind="stable"):
        path, first, last = corpus.places[at]
        if path not in found:
            found[path] = Found(path, ((first, last),))
            if len(found) == TOP_K:
                break
    return list(found.values())


def score_labels(labels: Path, checkouts: Path, cache: Path, models: dict[str, Model]) -> None:
    repositories = json.loads((labels / "repositories.json").read_text())
    figures: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in models}
    for name in (repo["name"] for repo in repositories if repo["split"] == "tune"):
        lines = (labels / f"{name}.jsonl").read_text().splitlines()
        asked = [one for one in map(json.loads, lines) if one["targets"]]
        corpus = cached(checkouts / name, f"labels-{name}", cache)
        bags = [bag_of(one["query"]) for one in asked]
        overlaps = [overlapping(one["targets"], corpus) for one in asked]
        hard = [is_hard(bag, hits, corpus) for bag, hits in zip(bags, overlaps, strict=True)]
        for model_name, model in models.items():
            scores = model.embed(bags) @ model.embed(corpus.bags).T
            for row, hits, is_one_hard in zip(scores, overlaps, hard, strict=True):
                figures[model_name].append((*reached(row, hits), is_one_hard))
    for model_name, rows in figures.items():
        print(f"labels, tune part, {model_name}:", label_row(rows))
        print("  few words shared:", label_row([row for row in rows if row[2]]))


def overlapping(targets: list, corpus: Corpus) -> list[set[int]]:
    """For each target the chunks that overlap one of its spans."""
    return [
        {
            at
            for at, (path, first, last) in enumerate(corpus.places)
            for span in spans
            if path == span["path"] and overlaps(span["lines"], first, last)
        }
        for spans in targets
    ]


def overlaps(lines: str, first: int, last: int) -> bool:
    start, _, end = lines.partition("-")
    return first <= int(end or start) and int(start) <= last


def is_hard(bag: dict[str, int], hits: list[set[int]], corpus: Corpus) -> bool:
    """Whether no answering chunk has more than half of the question's longer words."""
    asked = {word for word in bag if len(word) > 3}
    shares = [len(asked & corpus.bags[at].keys()) for chunks in hits for at in chunks]
    return max(shares, default=0) <= HARD_SHARE * len(asked)


def reached(scores: Floats, hits: list[set[int]]) -> tuple[float, float]:
    order = np.argsort(-scores, kind="stable")
    wanted = set().union(*hits)
    first = next((rank for rank, at in enumerate(order, start=1) if at in wanted), 0)
    top = set(order[:TOP_K].tolist())
    return (1 / first if first else 0.0), statistics.mean(bool(one & top) for one in hits)


def label_row(rows: list[tuple[float, float, bool]]) -> str:
    mrr, recall = np.mean([row[:2] for row in rows], axis=0)
    return f"MRR {mrr:.4f}  recall@10 {recall:.4f}  ({len(rows)} questions)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--bench", type=Path, nargs=2)
    parser.add_argument("--labels", type=Path, nargs=2)
    parser.add_argument("--cache", type=Path, required=True)
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    models = {place.name: load_model(place) for place in args.models}
    if args.bench:
        score_bench(*args.bench, args.cache, models)
    if args.labels:
        score_labels(*args.labels, args.cache, models)


if __name__ == "__main__":
    main()
