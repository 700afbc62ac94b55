"""Subword counts of texts, as the index embeds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from scipy.sparse import csr_matrix

from rootle.text.terms import MAX_WORD_CHARS, WORD, split_identifier

SubwordCounts = Mapping[str, int]


def count_subwords(text: str) -> SubwordCounts:
    """Return the count of each subword; overlong words are ignored."""
    words = (word for word in WORD.findall(text) if len(word) <= MAX_WORD_CHARS)
    return Counter(chain.from_iterable(map(split_identifier, words)))


def row_numbers(vocabulary: Sequence[str]) -> dict[str, int]:
    """Return the row of each word."""
    return {word: row for row, word in enumerate(vocabulary) if word}


def text_matrix(
    texts: Sequence[SubwordCounts], row_of: Mapping[str, int], width: int
) -> csr_matrix:
    """Return a matrix with one row per text: the square root of each known subword's count.

    `width` is the number of rows of the embedding table.
    """
    known = [[(row_of[w], n) for w, n in text.items() if w in row_of] for text in texts]
    flat = np.array(list(chain.from_iterable(known)), np.int64).reshape(-1, 2)
    indptr = np.cumsum([0, *map(len, known)])
    weights = np.sqrt(flat[:, 1]).astype(np.float32)
    return csr_matrix((weights, flat[:, 0], indptr), (len(texts), width))
