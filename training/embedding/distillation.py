"""Distils a teacher's vectors of whole texts into a table of rows, and joins it with the one given.

    python -m training.embedding.distillation PACKAGES... --reserved DIR... --teacher FOLDER --start TABLE
        --work DIR --out DIR

Chunks of the packages, and what comments and documents say of them, are embedded by the teacher,
reduced by PCA to as many numbers as TABLE has, and learned by its rows: gradient descent on the
cosine, from where they lie when they are turned towards the teacher. Words that no text has stay
there. DIR gets `distilled`, and `joined`: TABLE and the distilled rows side by side, cut back as
`embedding/merge_tables.py` does. The teacher is whatever `embeddingModelID` takes. Reserved projects are left out
as in `embedding/train_embedding.py`, and so are those that it holds out.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from rootle import Config
from rootle.embed.factory import choose_model, open_model
from rootle.protocols import Embedder, QueryEmbedder
from rootle.text.languages import PROSE
from training.corpus.chunks import Place, cut_file
from training.corpus.reserved_repos import NAMES, Reserved, read_names, shingles_of_repositories
from training.corpus.sampling import Project, Sampler, find_projects
from training.embedding.contrastive import LazyAdam, TrainSettings, embed, through_norm, unit
from training.embedding.dense_benchmark import bag_of
from training.embedding.held_out import is_held_out
from training.embedding.merge_tables import OTHERS_SHARE, main_directions
from training.embedding.weight_files import read_weights, write_weights
from training.pairs.code_pairs import code_pairs, find_definitions
from training.pairs.prose_pairs import prose_pairs

Floats = NDArray[np.float32]

SHARE = 0.05  # of a project's text that make_embedding.py reads
OF_PROJECT = 90  # chunks
OF_LANGUAGE = 2_600
QUESTIONS = 2  # of a chunk
ASKED = {"doc", "bare", "message", "tested", "heading", "sentence", "mention"}
EPOCHS = 8
BATCH = 512
RATE = 0.01
CHECKED = 1_500  # texts that are not learned
MIN_WORDS = 3  # known ones of a text
_AT_ONCE = 1_024


def main() -> None:
    args = parse_arguments()
    rows, words = read_weights(args.start)
    chunks, questions = sampled(args)
    config = Config(embedding_model_id=str(args.teacher))
    teacher = open_model(choose_model(config), config)
    bags, vectors = [], []
    for name, texts, asks in (("chunks", chunks, False), ("questions", questions, True)):
        of_texts = matrix_of_texts(texts, words)
        known = np.diff(of_texts.indptr) >= MIN_WORDS
        bags.append(of_texts[known])
        vectors.append(taught(teacher, texts, args.work / f"{name}.npy", asks=asks)[known])
    wanted = reduced(vectors, rows.shape[1])
    distilled = fitted(rows, bags, wanted)
    write_weights(distilled, words, args.out / "distilled")
    wide = np.concatenate([rows, np.float32(OTHERS_SHARE) * distilled], axis=1)
    write_weights(wide @ main_directions(wide, bags, rows.shape[1]), words, args.out / "joined")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("packages", type=Path, nargs="+")
    parser.add_argument("--reserved", type=Path, nargs="+", required=True)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True, metavar="TABLE")
    parser.add_argument("--work", type=Path, default=Path("build/distilling"))
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def sampled(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Chunks and questions, each once; from the work folder where they were sampled before."""
    kept = args.work / "texts.json"
    if not kept.exists():
        args.work.mkdir(parents=True, exist_ok=True)
        names = read_names(NAMES)
        sampler = Sampler(Reserved(names, shingles_of_repositories(args.reserved)), SHARE)
        projects = find_projects(args.packages, None)
        random.Random(5).shuffle(projects)
        of_language = Counter[str]()
        found = [
            texts
            for project in projects
            if not is_held_out(project.name)
            for texts in of_project(project, sampler, of_language)
        ]
        chunks = [chunk for chunk, _ in found]
        questions = dict.fromkeys(question for _, asked in found for question in asked)
        kept.write_text(json.dumps([chunks, list(questions)]), encoding="utf-8")
    chunks, questions = json.loads(kept.read_text(encoding="utf-8"))
    return chunks, questions


def of_project(
    project: Project, sampler: Sampler, of_language: Counter[str]
) -> Iterator[tuple[str, list[str]]]:
    """Some chunks of a project as the index embeds them, with what may be asked of each."""
    rng = random.Random(project.number)
    places: list[Place] = []
    for file in sampler.files(project):
        places += cut_file(file.path, file.language, file.text, len(places))
    definitions = find_definitions([place for place in places if place.language not in PROSE])
    for place in rng.sample(places, min(OF_PROJECT, len(places))):
        if of_language[place.language] == OF_LANGUAGE:
            continue
        of_language[place.language] += 1
        made = prose_pairs if place.language in PROSE else code_pairs
        asked = [pair.question for pair in made(place, rng, definitions) if pair.kind in ASKED]
        yield place.answer(place.text), asked[:QUESTIONS]


def taught(teacher: Embedder, texts: Sequence[str], kept: Path, *, asks: bool) -> Floats:
    """What the teacher makes of each text; kept, because it takes most of the time."""
    if not kept.exists():
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors = np.zeros((len(texts), teacher.dimensions), np.float16)
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            vectors[some] = vectors_of([texts[at] for at in some], teacher, asks=asks)
        np.save(kept, vectors)
    return np.load(kept).astype(np.float32)


def vectors_of(texts: list[str], teacher: Embedder, *, asks: bool) -> Floats:
    if asks and isinstance(teacher, QueryEmbedder):
        return np.stack([teacher.embed_query(text) for text in texts])
    return teacher.embed(texts)


def matrix_of_texts(texts: Sequence[str], words: Sequence[str]) -> csr_matrix:
    """One row a text: the square root of the count of each known subword."""
    row_of = {word: row for row, word in enumerate(words) if word}
    bags = [[(row_of[w], n) for w, n in bag_of(text).items() if w in row_of] for text in texts]
    flat = np.array([pair for bag in bags for pair in bag], np.int64).reshape(-1, 2)
    starts = np.cumsum([0, *map(len, bags)])
    counts = np.sqrt(flat[:, 1]).astype(np.float32)
    return csr_matrix((counts, flat[:, 0], starts), (len(texts), len(words)))


def reduced(parts: Sequence[Floats], dimensions: int) -> Floats:
    """All of them in the directions that tell most, without what all of a part have in common."""
    centred = np.concatenate([part - part.mean(axis=0) for part in parts])
    directions = np.linalg.eigh(centred.T @ centred)[1][:, : -dimensions - 1 : -1]
    return unit(np.asarray(centred @ directions, np.float32))[0]


def fitted(rows: Floats, parts: Sequence[csr_matrix], wanted: Floats) -> Floats:
    """The rows whose sums point where the teacher's vectors do."""
    bags = csr_matrix(vstack(parts))
    rng = np.random.default_rng(1)
    order = rng.permutation(len(wanted))
    checked, learned = order[:CHECKED], order[CHECKED:]
    left, _, right = np.linalg.svd(embed(rows, bags[learned]).T @ wanted[learned])
    table = np.asarray(rows @ (left @ right), np.float32)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    optimizer = LazyAdam(table, TrainSettings())
    steps = EPOCHS * (len(learned) // BATCH)
    for step in range(steps):
        if step % (len(learned) // BATCH) == 0:
            rng.shuffle(learned)
            said = (embed(table, bags[checked]) * wanted[checked]).sum(axis=1).mean()
            print(f"step {step} of {steps}: cosine with the teacher {said:.4f}", flush=True)
        at = step % (len(learned) // BATCH) * BATCH
        some = learned[at : at + BATCH]
        descend(table, bags[some], wanted[some], optimizer, RATE * max(0.02, 1 - step / steps))
    # A text has its frequent words often enough to learn directions; how much each of them counts
    # is better known by the table that it began with.
    now = np.linalg.norm(table, axis=1, keepdims=True)
    return table * (lengths / np.maximum(now, 1e-9))


def descend(
    table: Floats, bags: csr_matrix, wanted: Floats, optimizer: LazyAdam, rate: float
) -> None:
    """One step towards a higher cosine of some texts with what is wanted of them."""
    used, places = np.unique(bags.indices, return_inverse=True)
    small = csr_matrix((bags.data, places, bags.indptr), (len(wanted), len(used)))
    vectors, norms = unit(np.asarray(small @ table[used]))
    slope = through_norm(-wanted / np.float32(len(wanted)), vectors, norms)
    optimizer.update(used, table[used], np.asarray(small.T @ slope), rate)


if __name__ == "__main__":
    main()
