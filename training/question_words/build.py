"""Build the model that relates the words of questions to the words of code.

    python -m training.question_words.build [--out DIR] [--held-out SHARE]

It reads the tables and the pairs of this folder and writes `question_words_v1_terms.txt`,
`_phrases.npz` and `_vectors.npz` to DIR, by default the folder of the models in the package. With
`--held-out`, this share of the pairs is not used for training. The command then writes nothing. It
prints how well the questions of the held-out pairs find their answers among the answers of all
held-out pairs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmarks.common.arguments import OUT, command_parser
from numpy.typing import NDArray

from rootle.embed.question_vectors import QuestionVectors
from rootle.embed.static import StaticEmbedder
from rootle.models.shipped import QUESTION_WORDS_V1, STATIC_CODE_V2, model_file
from rootle.protocols import WeightedTerm
from rootle.rank.question.parsed import parse_question
from rootle.rank.question.related_terms import (
    WEIGHT_STEPS,
    RelatedTermTable,
    find_related_terms,
    phrase_key,
)
from rootle.text.stemmer import open_stemmer
from training.question_words.phrase_table import (
    FOLDER,
    PhraseTable,
    add_forms,
    read_table,
    read_words,
    weigh_table,
)
from training.question_words.question_vectors import (
    Floats,
    Settings,
    count_subwords,
    reduce_changes,
    train_changes,
)

# Dimensions of the stored changes of word vectors; 256 would take a megabyte and gain nothing.
_DIMENSIONS: Final = 64
_MIN_CHANGE: Final = 0.3  # shorter changes are not stored (training/README.md)
_MAX_STEPS: Final = 255
_SEED: Final = 1
_stem = open_stemmer()


@dataclass(frozen=True, slots=True)
class Pair:
    """A question in everyday words, and the text of a place that answers it."""

    question: str
    answer: str


Arrays = Mapping[str, NDArray[Any]]


def main() -> None:
    folder = model_file(QUESTION_WORDS_V1, "").parent
    parser = command_parser(__doc__, OUT.with_settings(required=False, default=folder))
    parser.add_argument("--held-out", type=float, default=0.0, metavar="SHARE")
    args = parser.parse_args()
    pairs = read_pairs(FOLDER / "pairs")
    random.Random(_SEED).shuffle(pairs)
    held = int(len(pairs) * args.held_out)
    used = pairs[held:]
    terms, phrases = pack_phrases(weigh_table(read_table(), [pair.question for pair in used]))
    model = QuestionModel(terms, phrases)
    vectors = model.train(used)
    print(f"{len(phrases['keys'])} phrases, {len(terms)} terms, {len(used)} pairs")
    if held:
        for name, figures in model.evaluate(pairs[:held], vectors).items():
            print(f"{name:20} MRR {figures[0]:.3f}  recall@10 {figures[1]:.3f}")
        return
    args.out.mkdir(parents=True, exist_ok=True)
    name = QUESTION_WORDS_V1.replace("-", "_")
    words = read_words()
    lines = "".join(f"{term}\t{words[term]}\n" for term in terms)
    (args.out / f"{name}_terms.txt").write_text(lines, encoding="utf-8")
    np.savez(args.out / f"{name}_phrases.npz", allow_pickle=False, **phrases)
    np.savez(args.out / f"{name}_vectors.npz", allow_pickle=False, **vectors)


def read_pairs(folder: Path) -> list[Pair]:
    """Return the pairs of the files in a folder, in the order of the files."""
    lines = (
        line
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return [Pair(found["q"], found["p"]) for found in map(json.loads, lines)]


def pack_phrases(table: PhraseTable) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return all terms, and the arrays of a RelatedTermTable."""
    terms = sorted({term for found in table.values() for term in found})
    place = {term: at for at, term in enumerate(terms)}
    lists: dict[tuple[tuple[int, int], ...], int] = {}
    number_of: dict[int, int] = {}
    for phrase, found in add_forms(table).items():
        rows = [(place[term], _quantize(weight)) for term, weight in found.items()]
        rows.sort(key=lambda row: (-row[1], row[0]))
        number_of[phrase_key(phrase)] = lists.setdefault(tuple(rows), len(lists))
    keys = sorted(number_of)
    flat = [row for rows in lists for row in rows]
    return terms, {
        "keys": np.array(keys, np.uint64),
        "lists": np.array([number_of[key] for key in keys], np.uint16),
        "starts": np.cumsum([0, *map(len, lists)]).astype(np.uint32),
        "terms": np.array([term for term, _ in flat], np.uint16),
        "weights": np.array([weight for _, weight in flat], np.uint8),
    }


class QuestionModel:
    """The table of phrases, combined with the shipped embedding model."""

    def __init__(self, terms: Sequence[str], phrases: Arrays) -> None:
        self._terms = terms
        self._table = RelatedTermTable(phrases, terms)
        self._embedder = StaticEmbedder()
        words = model_file(STATIC_CODE_V2, "vocab.txt").read_text(encoding="utf-8").split("\n")
        self._row_of_word = {word: row for row, word in enumerate(words) if word}
        self._arrays = {
            "term_rows": np.array(self._find_term_rows(), np.int32),
            **_pack_changes(np.zeros((1, self._embedder.dimensions), np.float32)),
        }

    def train(self, pairs: Sequence[Pair]) -> dict[str, NDArray[Any]]:
        """Return the arrays of QuestionVectors."""
        questions = self.embed_questions(pairs, self._arrays)
        answers = self._embedder.embed([pair.answer for pair in pairs])
        bags = count_subwords([pair.question for pair in pairs], self._row_of_word)
        changes = train_changes(bags, questions, answers, Settings())
        return {"term_rows": self._arrays["term_rows"], **_pack_changes(changes)}

    def evaluate(self, pairs: Sequence[Pair], vectors: Arrays) -> dict[str, tuple[float, float]]:
        """Return MRR and recall@10 of the answers, ranked by cosine among all answers."""
        answers = self._embedder.embed([pair.answer for pair in pairs])
        plain = self._embedder.embed([pair.question for pair in pairs])
        ways = {
            "words": plain,
            "and related terms": self.embed_questions(pairs, self._arrays),
            "and learned changes": self.embed_questions(pairs, vectors),
        }
        return {name: _find_figures(found @ answers.T) for name, found in ways.items()}

    def embed_questions(self, pairs: Sequence[Pair], vectors: Arrays) -> Floats:
        """Return the unit vectors of the questions, one row each."""
        questions = QuestionVectors(self._terms, vectors)
        return np.array(
            [
                self._embedder.embed_question(pair.question, self.find_related(pair), questions)
                for pair in pairs
            ]
        )

    def find_related(self, pair: Pair) -> Sequence[WeightedTerm]:
        """Return the related terms of a question."""
        return find_related_terms(parse_question(pair.question, _stem), _stem, self._table)

    def _find_term_rows(self) -> list[int]:
        """Return for each term the row of the most frequent word with this stem, or -1."""
        row_of_stem: dict[str, int] = {}
        for word, row in self._row_of_word.items():  # the most frequent words come first
            if word.isalpha():
                row_of_stem.setdefault(_stem(word)[0], row)
        return [row_of_stem.get(term, -1) for term in self._terms]


def _quantize(weight: float) -> int:
    return min(_MAX_STEPS, max(1, round(weight * WEIGHT_STEPS)))


def _pack_changes(changes: Floats) -> dict[str, NDArray[Any]]:
    """Return the changes that are long enough, as rows of int8 in the basis of their SVD."""
    rows = np.flatnonzero(np.linalg.norm(changes, axis=1) >= _MIN_CHANGE)
    rows = rows if len(rows) else np.array([0])
    codes, basis = reduce_changes(changes[rows], _DIMENSIONS)
    scales = np.maximum(np.abs(codes).max(axis=1), 1e-9) / 127
    return {
        "rows": rows.astype(np.int32),
        "codes": np.rint(codes / scales[:, None]).astype(np.int8),
        "scales": scales.astype(np.float16),
        "basis": basis.astype(np.float16),
    }


def _find_figures(scores: Floats) -> tuple[float, float]:
    """Return MRR and recall@10 of the right answers, whose scores are on the diagonal."""
    right = np.diag(scores)
    ranks = (scores > right[:, None]).sum(axis=1)
    return float((1 / (ranks + 1)).mean()), float((ranks < 10).mean())


if __name__ == "__main__":
    main()
