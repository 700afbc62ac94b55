"""The BM25 score of a term in a document.

The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009, except that the inverse document frequency is that of Lucene, which is never
negative. All statistics are exact, so the scores depend only on the documents, not on the writes
that led to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# The usual values of the two parameters of BM25. They limit the influence of repeated terms and of
# the length of documents.
_K1: Final = 1.2
_B: Final = 0.75
_EXACT_LENGTHS: Final = 24

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FieldStatistics:
    """The number of documents, and the total number of terms in one of their fields."""

    documents: int
    terms: int


def term_weight(boost: float, frequency: int, statistics: FieldStatistics) -> float:
    """Return the boosted inverse document frequency of a term that is in `frequency` documents."""
    return boost * (1 + _K1) * log1p((statistics.documents - frequency + 0.5) / (frequency + 0.5))


def round_lengths(lengths: NDArray[Any]) -> Floats:
    """Round lengths down: the part of a length above 24 keeps its four most significant bits.

    Lucene and tantivy store lengths in this form. The ranker was trained on scores that were
    computed from rounded lengths. With exact lengths, NDCG@10 by span on the labeled questions is
    0.005 lower.
    """
    rest = np.maximum(lengths.astype(np.int64) - _EXACT_LENGTHS, 1)
    shifts = np.maximum(np.frexp(rest)[1] - 4, 0)
    rounded = _EXACT_LENGTHS + (rest >> shifts << shifts)
    return np.where(lengths < _EXACT_LENGTHS + 1, lengths, rounded).astype(np.float64)


def saturate(counts: NDArray[Any], lengths: NDArray[Any], statistics: FieldStatistics) -> Floats:
    """Return the score of a term of weight 1 in each document, from 0 to 1.

    The term occurs `counts` times in a field of each document, and this field has `lengths` terms.
    """
    mean = max(statistics.terms / max(statistics.documents, 1), 1e-9)
    norms = lengths * (_K1 * _B / mean)
    norms += _K1 * (1 - _B)
    scores: Floats = counts / (counts + norms)
    return scores
