"""Distill a teacher's vectors of texts into a table of rows, and merge it with another table.

    python -m training.embedding.distillation PACKAGES... --reserved DIR... --teacher FOLDER
        --start TABLE --out DIR [--work DIR]

The teacher embeds chunks of the packages, and sentences about them from comments and documents. Its
vectors are reduced by PCA to the dimensions of TABLE. The rows learn them by gradient descent on
the cosine, starting from TABLE rotated toward the teacher. Rows of words that no text contains keep
these starting values. The output folder gets `distilled`, and `merged`, in which TABLE and the
distilled rows are concatenated and reduced as in `merge_tables`. The teacher is any value of
`embeddingModelID`. Projects that `train_embedding` reserves or holds out are excluded.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from benchmarks.common.arguments import OUT, PACKAGES, command_parser
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from rootle import Config
from rootle.embed.factory import choose_model, open_model
from rootle.protocols import Embedder, Matrix, QueryEmbedder
from rootle.text.languages import PROSE
from training.arguments import RESERVED, WORK_DIR
from training.corpus.reserved_repos import (
    ReservedRepositories,
    read_names,
    repository_shingles,
)
from training.corpus.sampling import Project, Sampler, find_projects
from training.corpus.source_chunks import SourceChunk, split_file
from training.embedding.contrastive import (
    LazyAdam,
    TrainSettings,
    embed_counts,
    normalization_gradient,
    normalize,
)
from training.embedding.held_out import is_held_out
from training.embedding.merge_tables import OTHER_TABLE_WEIGHT, principal_directions
from training.embedding.text_counts import count_subwords, row_numbers, text_matrix
from training.embedding.vector_cache import cached_vectors
from training.embedding.weight_files import read_weights, write_weights
from training.pairs.code_pairs import code_pairs, find_definitions
from training.pairs.prose_pairs import prose_pairs

Floats = NDArray[np.float32]

SAMPLE_SHARE = 0.05  # relative to the text of a project that train_embedding reads
MAX_PROJECT_CHUNKS = 90
MAX_LANGUAGE_CHUNKS = 2_600
MAX_QUERIES = 2  # per chunk
QUERY_KINDS = {"doc", "bare", "message", "tested", "heading", "sentence", "mention"}
EPOCHS = 8
BATCH = 512
LEARNING_RATE = 0.01
FINAL_SHARE = 0.02  # share of the learning rate after its linear decay
VALIDATION_TEXTS = 1_500  # texts that are used for validation only
MIN_KNOWN_WORDS = 3  # texts with fewer words of the vocabulary are left out
_WORK = WORK_DIR.with_settings(
    required=False, default=Path("build/distillation"),
    help="folder for texts and vectors (default: %(default)s)",
)  # fmt: skip


def main() -> None:
    args = parse_arguments()
    rows, words = read_weights(args.start)
    chunks, queries = sample_texts(args)
    config = Config(embedding_model_id=str(args.teacher))
    teacher = open_model(choose_model(config), config)
    counts, vectors = [], []
    for name, texts, embed in (
        ("chunks", chunks, teacher.embed),
        ("queries", queries, query_embedder(teacher)),
    ):
        matrix = text_matrix(list(map(count_subwords, texts)), row_numbers(words), len(rows))
        is_known = np.diff(matrix.indptr) >= MIN_KNOWN_WORDS
        counts.append(matrix[is_known])
        path = args.work / f"{name}.npy"
        vectors.append(cached_vectors(path, texts, teacher.dimensions, embed)[is_known])
    targets = reduce_dimensions(vectors, rows.shape[1])
    distilled = fit_rows(rows, csr_matrix(vstack(counts)), targets)
    write_weights(distilled, words, args.out / "distilled")
    wide = np.concatenate([rows, np.float32(OTHER_TABLE_WEIGHT) * distilled], axis=1)
    directions = principal_directions(wide, counts, rows.shape[1])
    write_weights(wide @ directions, words, args.out / "merged")


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, PACKAGES, RESERVED, OUT, _WORK)
    parser.add_argument(
        "--teacher", type=Path, required=True, metavar="FOLDER", help="embedding model"
    )
    parser.add_argument("--start", type=Path, required=True, metavar="TABLE", help="static table")
    args = parser.parse_args()
    if not args.reserved:
        parser.error("--reserved: expected at least one repository")
    return args


def sample_texts(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return chunks and distinct queries; later runs read them from the work folder."""
    path = args.work / "texts.json"
    if not path.exists():
        args.work.mkdir(parents=True, exist_ok=True)
        reserved = ReservedRepositories(read_names(), repository_shingles(args.reserved))
        sampler = Sampler(reserved, SAMPLE_SHARE)
        projects = find_projects(args.packages, None)
        random.Random(5).shuffle(projects)
        languages = Counter[str]()
        found = [
            texts
            for project in projects
            if not is_held_out(project.name)
            for texts in sample_project(project, sampler, languages)
        ]
        chunks = [chunk for chunk, _ in found]
        queries = list(
            dict.fromkeys(query for _, chunk_queries in found for query in chunk_queries)
        )
        path.write_text(json.dumps([chunks, queries]), encoding="utf-8")
    chunks, queries = json.loads(path.read_text(encoding="utf-8"))
    return chunks, queries


def sample_project(
    project: Project, sampler: Sampler, languages: Counter[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield chunks of a project as the index embeds them, with possible queries for each.

    `languages` counts the chunks of all projects so far.
    """
    rng = random.Random(project.seed)
    chunks: list[SourceChunk] = []
    for file in sampler.read_files(project):
        chunks += split_file(file.path, file.language, file.text, len(chunks))
    definitions = find_definitions([one for one in chunks if one.language not in PROSE])
    for chunk in rng.sample(chunks, min(MAX_PROJECT_CHUNKS, len(chunks))):
        if languages[chunk.language] == MAX_LANGUAGE_CHUNKS:
            continue
        languages[chunk.language] += 1
        make_pairs = prose_pairs if chunk.language in PROSE else code_pairs
        pairs = make_pairs(chunk, rng, definitions)
        queries = [pair.query for pair in pairs if pair.kind in QUERY_KINDS]
        yield chunk.prepend_path(chunk.text), queries[:MAX_QUERIES]


def query_embedder(teacher: Embedder) -> Callable[[list[str]], Matrix]:
    """Return the function that embeds queries; some models have a separate one for documents."""
    if isinstance(teacher, QueryEmbedder):
        return lambda texts: np.stack([teacher.embed_query(text) for text in texts])
    return teacher.embed


def reduce_dimensions(parts: Sequence[Floats], dimensions: int) -> Floats:
    """Center each part; return unit vectors in the principal components of all parts."""
    centered = np.concatenate([part - part.mean(axis=0) for part in parts])
    directions = np.linalg.eigh(centered.T @ centered)[1][:, : -dimensions - 1 : -1]
    return normalize(np.asarray(centered @ directions, np.float32))[0]


def fit_rows(rows: Floats, counts: csr_matrix, targets: Floats) -> Floats:
    """Return rows of unchanged length whose sum over a text points toward the text's target."""
    rng = np.random.default_rng(1)
    order = rng.permutation(len(targets))
    validation, training = order[:VALIDATION_TEXTS], order[VALIDATION_TEXTS:]
    table = rotate_toward(rows, counts[training], targets[training])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    optimizer = LazyAdam(table, TrainSettings())
    batches = len(training) // BATCH
    steps = EPOCHS * batches
    for step in range(steps):
        if step % batches == 0:
            rng.shuffle(training)
            cosines = (embed_counts(table, counts[validation]) * targets[validation]).sum(axis=1)
            print(f"step {step} of {steps}: validation cosine {cosines.mean():.4f}", flush=True)
        start = step % batches * BATCH
        some = training[start : start + BATCH]
        rate = LEARNING_RATE * max(FINAL_SHARE, 1 - step / steps)
        take_step(optimizer, counts[some], targets[some], rate)
    # The texts are enough to learn directions, but the start table has better word weights (row
    # lengths).
    learned = np.linalg.norm(table, axis=1, keepdims=True)
    scaled: Floats = table * (lengths / np.maximum(learned, 1e-9))
    return scaled


def rotate_toward(rows: Floats, counts: csr_matrix, targets: Floats) -> Floats:
    """Rotate the rows so that the texts' vectors are as close as possible to their targets."""
    left, _, right = np.linalg.svd(embed_counts(rows, counts).T @ targets)
    return np.asarray(rows @ (left @ right), np.float32)


def take_step(optimizer: LazyAdam, counts: csr_matrix, targets: Floats, rate: float) -> None:
    """Take one gradient step toward higher cosines of texts with their targets."""
    used, columns = np.unique(counts.indices, return_inverse=True)
    small = csr_matrix((counts.data, columns, counts.indptr), (len(targets), len(used)))
    vectors, lengths = normalize(np.asarray(small @ optimizer.rows[used]))
    slope = normalization_gradient(-targets / np.float32(len(targets)), vectors, lengths)
    optimizer.update(used, np.asarray(small.T @ slope), rate)


if __name__ == "__main__":
    main()
