"""Embed texts in batches, and isolate the texts that the model rejects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.errors import RefusedError, UnavailableError
from rootle.protocols import QueuedEmbedder, Vector

# Servers use these status codes to reject a text that is too long or malformed, but also for
# invalid requests and internal errors.
_TEXT_ERROR_STATUSES: Final = frozenset({400, 413, 422, 500})


@dataclass(frozen=True, slots=True)
class EmbeddedBatch:
    """The vectors of a batch, and the reasons why texts were rejected, keyed by position."""

    vectors: dict[int, Vector] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)


def embed_texts(embedder: QueuedEmbedder, texts: Sequence[str], timeout_s: float) -> EmbeddedBatch:
    """Return a vector for every text, or the reason why the model rejects the text.

    Raise UnavailableError if the model fails for all texts.
    """
    found = EmbeddedBatch()
    positions = list(range(len(texts)))
    batch = _Batch(embedder, texts, timeout_s, found)
    refusal = batch.embed(positions)
    if refusal is None:
        return found
    # If even the two shortest texts are rejected, the texts are not the cause.
    for at in sorted(positions, key=lambda at: len(texts[at]))[:2]:
        batch.embed_in_halves([at])
        if at in found.vectors:
            break
    else:
        if len(texts) > 1 or not isinstance(refusal, RefusedError):
            raise refusal
    batch.embed_in_halves([at for at in positions if not batch.is_done(at)])
    return found


@dataclass(frozen=True, slots=True)
class _Batch:
    embedder: QueuedEmbedder
    texts: Sequence[str]
    timeout_s: float
    found: EmbeddedBatch

    def is_done(self, at: int) -> bool:
        return at in self.found.vectors or at in self.found.refused

    def embed(self, positions: Sequence[int]) -> UnavailableError | None:
        """Embed the texts at these positions; return the error if a text may be the cause."""
        try:
            rows = self.embedder.embed_batch([self.texts[at] for at in positions], self.timeout_s)
        except UnavailableError as error:
            if error.status not in _TEXT_ERROR_STATUSES:
                raise
            return error
        self.found.vectors.update(zip(positions, rows, strict=True))
        return None

    def embed_in_halves(self, positions: Sequence[int]) -> None:
        """Embed the texts at these positions, and isolate those that the model rejects."""
        refusal = self.embed(positions) if positions else None
        if refusal is None:
            return
        if len(positions) == 1:
            self.found.refused[positions[0]] = str(refusal)
            return
        middle = len(positions) // 2
        self.embed_in_halves(positions[:middle])
        self.embed_in_halves(positions[middle:])
