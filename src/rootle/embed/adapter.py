"""ModelAdapter: any embedding model, local or on a server, as the one thing that rootle knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from rootle.embed.prefixes import Prefixes
from rootle.errors import UnavailableError
from rootle.protocols import Matrix, Vector
from rootle.text.terms import encodable

# For chunks nobody waits as for a question; a large model on a slow machine takes its time.
BATCH_TIMEOUT_S: Final = 60.0


class TextModel(Protocol):
    """What a model must be able to do to stand behind the adapter."""

    @property
    def dimensions(self) -> int:
        """0 where only an answer will tell."""

    def vectors(self, texts: Sequence[str], *, is_query: bool, timeout_s: float) -> Matrix:
        """One row a text, of any length but 0 dimensions. Raises UnavailableError.

        A model in this process cannot be interrupted and may take longer than `timeout_s`.
        """


class ModelAdapter:
    """Prefixes, batches, deadlines and unit vectors for a TextModel."""

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
        """One unit vector a text of the index, shape (len(texts), dimensions)."""
        starts = range(0, len(texts), self.batch_size)
        parts = [
            self.embed_batch(texts[at : at + self.batch_size], BATCH_TIMEOUT_S) for at in starts
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), np.float32)

    def embed_batch(self, texts: Sequence[str], timeout_s: float) -> Matrix:
        """The same for one batch, in `timeout_s`."""
        prefixed = [encodable(self._prefixes.document + text) for text in texts]
        return _unit(self._model.vectors(prefixed, is_query=False, timeout_s=timeout_s))

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question, to be compared with those of `embed`."""
        prefixed = [encodable(self._prefixes.query + text)]
        rows = self._model.vectors(prefixed, is_query=True, timeout_s=self._query_timeout_s)
        vector: Vector = _unit(rows)[0]
        return vector


def _unit(rows: Matrix) -> Matrix:
    if not np.isfinite(rows).all():
        raise UnavailableError("the embedding model gave numbers that are infinite or none (NaN)")
    wide = rows.astype(np.float64)
    # First by the largest part: the square of what a float may hold is more than it can hold.
    wide /= np.maximum(np.abs(wide).max(axis=1, keepdims=True), 1e-30)
    wide /= np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-30)
    unit: Matrix = wide.astype(np.float32)
    return unit
