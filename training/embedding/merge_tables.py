"""Merge a trained table with others, and reduce the result to the original dimensions.

Concatenated tables retrieve more than each of them alone, because they have learned from different
data. The reduction keeps the directions in which texts differ most, so frequent words have more
influence, and a direction that only rare words use is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from training.embedding.batches import count_matrix
from training.embedding.contrastive import embed_counts
from training.embedding.weight_files import read_weights
from training.pairs.subword_counts import PairCounts

Floats = NDArray[np.float32]

OTHER_TABLE_WEIGHT = 0.7  # relative to the trained table; 1 was worse
_SAMPLED_PAIRS = 60_000
_BATCH = 10_000


def merge_tables(
    rows: Floats, vocabulary: Sequence[str], others: Sequence[Path], pairs: PairCounts
) -> Floats:
    """Return the rows merged with other tables; a word that a table lacks gets zeros from it."""
    tables = [align_table(location, vocabulary) for location in others]
    weights = [1.0] + [OTHER_TABLE_WEIGHT] * len(tables)
    wide = np.concatenate(
        [
            np.float32(weight / _median_length(table)) * table
            for weight, table in zip(weights, [rows, *tables], strict=True)
        ],
        axis=1,
    )
    return wide @ principal_directions(wide, _sample_texts(pairs, len(rows)), rows.shape[1])


def align_table(location: Path, vocabulary: Sequence[str]) -> Floats:
    """Return the rows of a saved table in the order of another vocabulary."""
    rows, words = read_weights(location)
    row_of = {word: row for row, word in enumerate(words)}
    found = np.array([row_of.get(word, -1) for word in vocabulary])
    aligned = np.zeros((len(vocabulary), rows.shape[1]), np.float32)
    aligned[found >= 0] = rows[found[found >= 0]]
    return aligned


def principal_directions(rows: Floats, texts: Sequence[csr_matrix], dimensions: int) -> Floats:
    """Return the directions, one per column, with the most variance of the texts' vectors."""
    moments = np.zeros((rows.shape[1], rows.shape[1]), np.float64)
    for counts in texts:
        for start in range(0, counts.shape[0], _BATCH):
            vectors = embed_counts(rows, counts[start : start + _BATCH])
            moments += vectors.T @ vectors
    return np.linalg.eigh(moments)[1][:, : -dimensions - 1 : -1].astype(np.float32)


def _median_length(table: Floats) -> float:
    lengths = np.linalg.norm(table, axis=1)
    return float(np.median(lengths[lengths > 0]))


def _sample_texts(pairs: PairCounts, rows: int) -> list[csr_matrix]:
    rng = np.random.default_rng(3)
    count = min(_SAMPLED_PAIRS, len(pairs))
    chosen = np.sort(rng.choice(len(pairs), count, replace=False))
    return [count_matrix(pairs, side, chosen, rows) for side in (0, 1)]
