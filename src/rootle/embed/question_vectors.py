"""Adapt the vectors of questions in plain words to the vectors of code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rootle.models.shipped import QUESTION_WORDS_V1, model_file, read_question_terms
from rootle.protocols import Ids, Vector, WeightedTerm

# Two vectors are added to the unit vector of a question. The vector of related terms is scaled to
# _RELATED_LENGTH, and the learned changes are multiplied by _LEARNED_WEIGHT. Both values were
# chosen on the tune splits of the labeled questions.
_RELATED_LENGTH: Final = 0.5
_LEARNED_WEIGHT: Final = 1.0


class QuestionVectors:
    """Learned changes to the vectors of questions, one for each known subword."""

    def __init__(self, terms: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Create the changes from the arrays of the model file and the stems in its vocabulary."""
        # The row of each term in the embedding table, or -1 if there is none.
        rows = arrays["term_rows"].astype(np.int64).tolist()
        self._row_of = dict(zip(terms, rows, strict=True))
        # The change for row `rows[i]` of the embedding table is scales[i] x codes[i] @ basis.
        self._rows = arrays["rows"].astype(np.int64)  # in ascending order
        self._codes = arrays["codes"]  # int8
        self._scales = arrays["scales"].astype(np.float32)
        self._basis = arrays["basis"].astype(np.float32)

    def find_rows(self, terms: Sequence[WeightedTerm]) -> tuple[Ids, Vector]:
        """Return the rows of terms in the embedding table, and their weights."""
        found = [(self._row_of.get(term.text, -1), term.weight) for term in terms]
        known = [(row, weight) for row, weight in found if row >= 0]
        rows, weights = zip(*known, strict=True) if known else ((), ())
        return np.array(rows, np.int64), np.array(weights, np.float32)

    def adapt(self, vector: Vector, related: Vector, counts: Mapping[int, int]) -> Vector:
        """Return the unit vector of a question from three parts.

        `vector` is the vector of the words of the question, `related` is the sum of the vectors of
        related terms, and `counts` contains the number of occurrences of each row of the embedding
        table.
        """
        length = float(np.linalg.norm(related))
        if length:
            vector = vector + related * (_RELATED_LENGTH / length)
        adapted: Vector = vector + _LEARNED_WEIGHT * self._sum_changes(counts)
        adapted /= max(float(np.linalg.norm(adapted)), 1e-9)
        return adapted

    @classmethod
    def read_shipped(cls) -> QuestionVectors:
        """Return the changes from the model file that ships with rootle."""
        with np.load(model_file(QUESTION_WORDS_V1, "vectors.npz")) as arrays:
            return cls(list(read_question_terms()), dict(arrays))

    def _sum_changes(self, counts: Mapping[int, int]) -> Vector:
        """Return the weighted sum of the learned changes for the given rows."""
        rows = np.array(sorted(counts), np.int64)
        at = self._rows.searchsorted(rows)
        at[at == len(self._rows)] = 0
        is_known = self._rows[at] == rows
        occurrences = np.array([counts[row] for row in rows.tolist()], np.float32)
        weights = np.sqrt(occurrences / max(float(occurrences.sum()), 1.0))[is_known]
        codes = self._codes[at[is_known]].astype(np.float32)
        change: Vector = (weights * self._scales[at[is_known]]) @ codes @ self._basis
        return change
