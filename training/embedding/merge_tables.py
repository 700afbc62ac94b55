"""Joins a trained table with others, cut back to its own number of dimensions.

Two tables side by side find more than either alone: what each learned by chance it learned
differently. The cut keeps the directions in which texts differ most, so a word counts there as
often as texts have it, and a direction that only rare words use is let go.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from training.embedding.batches import matrix_of
from training.embedding.contrastive import embed
from training.embedding.weight_files import read_weights
from training.pairs.subword_counts import Bags

Floats = NDArray[np.float32]

# Of the length that the trained table has; 1 was worse.
OTHERS_SHARE = 0.7
_SAMPLED_PAIRS = 60_000
_AT_ONCE = 10_000


def join(rows: Floats, vocabulary: Sequence[str], others: Sequence[Path], pairs: Bags) -> Floats:
    """The rows joined with those of other tables; a word that another lacks has nothing from it."""
    tables = [aligned(place, vocabulary) for place in others]
    shares = [1.0] + [OTHERS_SHARE] * len(tables)
    wide = np.concatenate(
        [
            np.float32(share / _median_length(table)) * table
            for share, table in zip(shares, [rows, *tables], strict=True)
        ],
        axis=1,
    )
    return wide @ main_directions(wide, _sampled_texts(pairs, len(rows)), rows.shape[1])


def aligned(place: Path, vocabulary: Sequence[str]) -> Floats:
    """A written table's rows in the order of another vocabulary."""
    rows, words = read_weights(place)
    row_of = {word: row for row, word in enumerate(words)}
    found = np.array([row_of.get(word, -1) for word in vocabulary])
    result = np.zeros((len(vocabulary), rows.shape[1]), np.float32)
    result[found >= 0] = rows[found[found >= 0]]
    return result


def main_directions(rows: Floats, texts: Sequence[csr_matrix], dimensions: int) -> Floats:
    """The directions, one a column, that hold most of what the texts' vectors are."""
    spread = np.zeros((rows.shape[1], rows.shape[1]), np.float64)
    for text in texts:
        for start in range(0, text.shape[0], _AT_ONCE):
            vectors = embed(rows, text[start : start + _AT_ONCE])
            spread += vectors.T @ vectors
    return np.linalg.eigh(spread)[1][:, : -dimensions - 1 : -1].astype(np.float32)


def _median_length(table: Floats) -> float:
    lengths = np.linalg.norm(table, axis=1)
    return float(np.median(lengths[lengths > 0]))


def _sampled_texts(pairs: Bags, rows: int) -> list[csr_matrix]:
    rng = np.random.default_rng(3)
    count = min(_SAMPLED_PAIRS, len(pairs))
    chosen = np.sort(rng.choice(len(pairs), count, replace=False))
    return [matrix_of(pairs, side, chosen, rows) for side in (0, 1)]
