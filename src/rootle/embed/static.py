"""Default embedding model: a bag of subwords, looked up in a table that ships with rootle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Final

import numpy as np

from rootle.embed.question_vectors import QuestionVectors
from rootle.models.shipped import STATIC_CODE_V2, model_file
from rootle.protocols import Ids, Matrix, Vector, WeightedTerm
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import MAX_WORD_CHARS, find_words, split_identifier

_BATCH: Final = 64  # the number of texts whose rows are counted together
_TABLE_LIMIT: Final = 60_000
# The factor by which weights are multiplied before they are rounded to integers. The scales in the
# model file are below 0.01, so the sums for a text with ten million words are below 2**53.
_WEIGHT_UNIT: Final = 1 << 29
# Endings of the words that can have a stem in common, the most likely one first.
_ENDINGS: Final = ("", "e", "s", "ing", "ed", "es", "er")
_MIN_STEM: Final = 3


class StaticEmbedder:
    """Embeds a text as the normalized sum of sqrt(count) x row over its known subwords."""

    def __init__(self, model: str = STATIC_CODE_V2) -> None:
        # Memory-mapped, because a query needs only a few rows of this ten-megabyte file.
        self._rows = np.asarray(np.load(model_file(model, "rows.npy"), mmap_mode="r"))
        self._scales = np.load(model_file(model, "scales.npy")).astype(np.float32)
        self._rows_of = _RowTable(_read_vocabulary(model))
        self.fingerprint = model
        self.dimensions = int(self._rows.shape[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return unit vectors, shape (len(texts), 256); zeros for a text without known words."""
        return self.embed_words([find_words(text) for text in texts])

    def embed_words(self, texts: Sequence[Sequence[str]]) -> Matrix:
        """Embed texts that are already split into words.

        The vector of a text does not depend on the other texts. A new index and an updated one
        therefore contain the same vectors, although they embed the chunks in different batches.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if len(texts) == 1:
            # A query waits for this text, and a batch of one would take longer.
            self._embed_counts(self._count_rows(texts[0]), vectors)
            return vectors
        for start in range(0, len(texts), _BATCH):
            self._embed_batch(texts[start : start + _BATCH], vectors[start : start + _BATCH])
        return vectors

    def embed_question(
        self,
        text: str,
        related: Sequence[WeightedTerm],
        questions: QuestionVectors | None = None,
    ) -> Vector:
        """Return the unit vector of a question in plain words, shape (256,).

        `related` are stems that code may use for these words. Their vectors, and the changes that
        were learned for the words, are added to the vector of the text. `questions` contains the
        learned changes; the default ships with rootle.
        """
        counts = self._count_rows(find_words(text))
        vector = np.zeros((1, self.dimensions), dtype=np.float32)
        self._embed_counts(counts, vector)
        questions = questions or _shipped_questions()
        used, weights = questions.find_rows(related)
        sums = weights @ (self._rows[used] * self._scales[used])
        return questions.adapt(vector[0], sums, counts)

    def _count_rows(self, words: Sequence[str]) -> Counter[int]:
        return Counter(chain.from_iterable(map(self._rows_of.__getitem__, words)))

    def _embed_counts(self, counts: Counter[int], out: Matrix) -> None:
        """Store the vector of one text in `out`, from the number of occurrences of each row."""
        if counts:
            used = np.array(list(counts), dtype=np.int64)
            self._sum_rows(used, np.array(list(counts.values())), [len(counts)], out)

    def _embed_batch(self, texts: Sequence[Sequence[str]], out: Matrix) -> None:
        rows_of = self._rows_of.__getitem__
        bags = [list(chain.from_iterable(map(rows_of, words))) for words in texts]
        first_cells = np.arange(len(bags) + 1) * len(self._rows)
        flat = np.fromiter(chain.from_iterable(bags), dtype=np.int64)
        cells = np.repeat(first_cells[:-1], [len(bag) for bag in bags]) + flat
        cells, counts = np.unique(cells, return_counts=True)
        ends: list[int] = cells.searchsorted(first_cells[1:]).tolist()
        self._sum_rows(cells % len(self._rows), counts, ends, out)

    def _sum_rows(self, used: Ids, counts: Ids, ends: Sequence[int], out: Matrix) -> None:
        """Store the vector of each text in `out`: the normalized, weighted sum of its rows.

        `used[ends[i - 1]:ends[i]]` are the rows of text i, and `counts` how often each of them
        occurs in it. Weights are rounded to integers. Their products with the rows, and sums of
        these products below 2**53, are exact in float64, so the order of the additions does not
        matter.

        The sums are computed with einsum. For a matrix product, BLAS would start a thread for each
        core, and these threads would take several times as much processor time.
        """
        scales = self._scales[used, 0].astype(np.float64) * _WEIGHT_UNIT
        weights = np.rint(np.sqrt(counts.astype(np.float64)) * scales)
        sums = np.zeros(out.shape)
        for total, (start, end) in zip(sums, pairwise([0, *ends]), strict=True):
            rows = self._rows[used[start:end]].astype(np.float64)
            np.einsum("i,ij->j", weights[start:end], rows, out=total)
        norms = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
        out[:] = sums / np.maximum(norms, 1.0)


_shipped_questions: Final = cache(QuestionVectors.read_shipped)


@cache
def _read_vocabulary(model: str) -> Mapping[str, int]:
    """Return the row of each subword.

    The result is cached, because reading the file takes longer than indexing a few files.
    """
    words = model_file(model, "vocab.txt").read_text(encoding="utf-8").split("\n")
    return {word: row for row, word in enumerate(words) if word}


class _RowTable(dict[str, tuple[int, ...]]):
    """Maps a word to the rows of its known subwords. They are looked up on first use.

    If a subword is unknown, the row of a known form of the same word is used: "parcels", "parcel".
    """

    def __init__(self, known: Mapping[str, int]) -> None:
        super().__init__()
        self._known = known
        self._stem = open_stemmer()

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= _TABLE_LIMIT:
            self.clear()
        parts = split_identifier(word) if len(word) <= MAX_WORD_CHARS else []
        found = [self._known.get(part, -1) for part in parts]
        if -1 in found:
            found = [
                self._find_form(part) if row < 0 else row
                for part, row in zip(parts, found, strict=True)
            ]
        rows = tuple([row for row in found if row >= 0])
        self[word] = rows
        return rows

    def _find_form(self, word: str) -> int:
        """Return the row of another form of an unknown word, or -1 if no form is known."""
        stems = self._stem(word) if word.isalpha() else []
        if len(stems) != 1 or len(stems[0]) < _MIN_STEM:
            return -1
        (stem,) = stems
        forms = [f"{stem[:-1]}y"] if stem.endswith("i") else []
        forms += [stem + ending for ending in _ENDINGS]
        return next((self._known[form] for form in forms if form in self._known), -1)
