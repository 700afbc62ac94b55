"""A small, deterministic embedder that records the texts it embeds."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from rootle.protocols import Matrix
from rootle.text.terms import WORD, split_identifier


class HashEmbedder:
    """An embedder that hashes the words of a text; `texts` records every embedded text."""

    def __init__(self, dimensions: int = 64) -> None:
        self.fingerprint = f"hash-{dimensions}"
        self.dimensions = dimensions
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.texts += texts
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in WORD.findall(text):
                for part in split_identifier(word):
                    vectors[row, zlib.crc32(part.encode()) % self.dimensions] += 1
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        units: Matrix = vectors / lengths
        return units
