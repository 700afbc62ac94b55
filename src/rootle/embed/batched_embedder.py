"""Adapt any embedding model, local or on a server, to the `Embedder` interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from rootle.embed.prefixes import Prefixes
from rootle.errors import UnavailableError
from rootle.protocols import Matrix, Vector
from rootle.text.terms import encodable

# The time limit of a batch of chunks. It is longer than the limit of a query, because large models
# need this time on slow machines, and no user waits for the embeddings of chunks.
BATCH_TIMEOUT_S: Final = 60.0


class TextModel(Protocol):
    """A model that embeds texts but does not add prefixes, split batches or normalize vectors."""

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 while it is unknown."""

    def vectors(self, texts: Sequence[str], *, is_query: bool, timeout_s: float) -> Matrix:
        """Return one vector per text, with any norm and the shape (len(texts), dimensions).

        Raises UnavailableError if the model fails. A local model cannot be interrupted and may take
        longer than `timeout_s`.
        """


class BatchedEmbedder:
    """Adds prefixes, batches, deadlines and normalization to a TextModel."""

    def __init__(
        self,
        model: TextModel,
        fingerprint: str,
        *,
        prefixes: Prefixes,
        batch_size: int,
        query_timeout_s: float,
    ) -> None:
        self._model = model
        self._prefixes = prefixes
        self._query_timeout_s = query_timeout_s
        self.fingerprint = fingerprint
        self.batch_size = batch_size

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per document, shape (len(texts), dimensions)."""
        starts = range(0, len(texts), self.batch_size)
        batches = [
            self.embed_batch(texts[at : at + self.batch_size], BATCH_TIMEOUT_S) for at in starts
        ]
        return np.concatenate(batches) if batches else np.zeros((0, self.dimensions), np.float32)

    def embed_batch(self, texts: Sequence[str], timeout_s: float) -> Matrix:
        """Embed one batch of documents within `timeout_s`."""
        prefixed = [encodable(self._prefixes.document + text) for text in texts]
        return normalize_rows(self._model.vectors(prefixed, is_query=False, timeout_s=timeout_s))

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query, for comparison with the vectors of documents."""
        prefixed = [encodable(self._prefixes.query + text)]
        rows = self._model.vectors(prefixed, is_query=True, timeout_s=self._query_timeout_s)
        vector: Vector = normalize_rows(rows)[0]
        return vector


def normalize_rows(rows: Matrix) -> Matrix:
    """Return each row as a unit vector. Raise UnavailableError if a number is not finite."""
    if not np.isfinite(rows).all():
        raise UnavailableError("the embedding model returned infinite numbers or NaN")
    wide = rows.astype(np.float64)
    # Dividing by the largest component first avoids an overflow of its square.
    wide /= np.maximum(np.abs(wide).max(axis=1, keepdims=True), 1e-30)
    wide /= np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-30)
    unit: Matrix = wide.astype(np.float32)
    return unit
