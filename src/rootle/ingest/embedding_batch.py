"""One batch of texts to vectors, where a model may refuse some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.errors import RefusedError, UnavailableError
from rootle.protocols import QueuedEmbedder, Vector

# What servers answer to a text that is too long or strange for them. They answer the same to a bad
# request, and when they are broken.
_ABOUT_THE_TEXT: Final = frozenset({400, 413, 422, 500})


@dataclass(frozen=True, slots=True)
class EmbeddedBatch:
    """What came of each text, by its position in the batch."""

    vectors: dict[int, Vector] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)  # with the reason


def embed_texts(embedder: QueuedEmbedder, texts: Sequence[str], timeout_s: float) -> EmbeddedBatch:
    """Every text to a vector or the reason why the model does not take it.

    Raises UnavailableError where the trouble is with the model, not with a text.
    """
    found = EmbeddedBatch()
    everything = list(range(len(texts)))
    batch = _Batch(embedder, texts, timeout_s, found)
    refusal = batch.take(everything)
    if refusal is None:
        return found
    # The shortest are the most likely to be taken; if not even they are, it is not about texts.
    for at in sorted(everything, key=lambda at: len(texts[at]))[:2]:
        batch.take_in_halves([at])
        if at in found.vectors:
            break
    else:
        if len(texts) > 1 or not isinstance(refusal, RefusedError):
            raise refusal
    batch.take_in_halves([at for at in everything if not batch.is_done(at)])
    return found


@dataclass(frozen=True, slots=True)
class _Batch:
    embedder: QueuedEmbedder
    texts: Sequence[str]
    timeout_s: float
    found: EmbeddedBatch

    def is_done(self, at: int) -> bool:
        return at in self.found.vectors or at in self.found.refused

    def take(self, some: Sequence[int]) -> UnavailableError | None:
        """Embed some of the texts; returns why the model did not take them, if it is about them."""
        try:
            rows = self.embedder.embed_batch([self.texts[at] for at in some], self.timeout_s)
        except UnavailableError as error:
            if error.status not in _ABOUT_THE_TEXT:
                raise
            return error
        self.found.vectors.update(zip(some, rows, strict=True))
        return None

    def take_in_halves(self, some: Sequence[int]) -> None:
        """Embed all of them that the model takes."""
        refusal = self.take(some) if some else None
        if refusal is None:
            return
        if len(some) == 1:
            self.found.refused[some[0]] = str(refusal)
            return
        middle = len(some) // 2
        self.take_in_halves(some[:middle])
        self.take_in_halves(some[middle:])
