"""The BM25 score of a term in a document.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the
inverse document frequency of Lucene, which is never negative. All statistics are exact, so the
scores depend only on the documents, not on the writes that led to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

# The usual values, which limit the weight of repeated terms and of the length of documents.
_K1: Final = 1.2
_B: Final = 0.75

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FieldStatistics:
    """The number of documents, and the total number of terms in one field of them."""

    documents: int
    terms: int


def term_weights(
    boosts: Sequence[float], frequencies: Sequence[int], statistics: FieldStatistics
) -> Floats:
    """Return the boosted inverse document frequency of each term; 0 for an absent term."""
    return np.array(
        [
            boost * (1 + _K1) * _inverse_frequency(count, statistics.documents) if count else 0.0
            for boost, count in zip(boosts, frequencies, strict=True)
        ]
    )


def saturate(counts: Floats, lengths: Floats, statistics: FieldStatistics) -> Floats:
    """Return the score of a term with weight 1 that occurs `counts` times, from 0 to 1.

    `lengths` are the numbers of terms in the field of each document.
    """
    mean = max(statistics.terms / max(statistics.documents, 1), 1e-9)
    return counts / (counts + (_K1 * (1 - _B) + (_K1 * _B / mean) * lengths))


def _inverse_frequency(count: int, documents: int) -> float:
    return log1p((documents - count + 0.5) / (count + 0.5))
