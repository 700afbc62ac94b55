"""Batches of texts for a model that rejects some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hash_embedder import HashEmbedder

from rootle.errors import RefusedError, UnavailableError
from rootle.ingest.rejected_texts import embed_texts
from rootle.protocols import Matrix

_TEXTS = ["a ledger", "two words more", "a forbidden word", "one more text", "and the last text"]


class _RejectingEmbedder(HashEmbedder):
    """An embedder that rejects every batch with a text that contains `word`."""

    batch_size = 8

    def __init__(self, word: str, status: int = 400) -> None:
        super().__init__()
        self.word = word
        self.status = status

    def embed_batch(self, texts: Sequence[str], timeout_s: float) -> Matrix:
        if any(self.word in text for text in texts):
            raise RefusedError(f"rejected: {self.word}", self.status)
        return self.embed(texts)


def test_all_texts_except_the_rejected_one_are_embedded() -> None:
    found = embed_texts(_RejectingEmbedder("forbidden"), _TEXTS, timeout_s=1.0)
    assert found.refused == {2: "rejected: forbidden"}
    assert sorted(found.vectors) == [0, 1, 3, 4]
    expected = HashEmbedder().embed(_TEXTS)
    assert all(np.array_equal(vector, expected[at]) for at, vector in found.vectors.items())


@pytest.mark.parametrize(("word", "status"), [("", 400), ("forbidden", 503)])
def test_a_model_that_rejects_everything_or_is_down_is_unavailable(word: str, status: int) -> None:
    with pytest.raises(UnavailableError):
        embed_texts(_RejectingEmbedder(word, status), _TEXTS, timeout_s=1.0)
