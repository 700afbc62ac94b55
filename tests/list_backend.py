"""A vector backend like one that a user might write: it compares all vectors by cosine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rootle.types import Record


class ListBackend:
    """A VectorBackend that records its queries."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Record, Any]] = {}
        self.asked: list[tuple[int, str | None]] = []

    def query(self, vector: Any, top_k: int, text: str | None = None) -> Sequence[Record]:
        self.asked.append((top_k, text))
        scored = [
            replace(record, score=float(np.dot(own, vector))) for record, own in self._held.values()
        ]
        return sorted(scored, key=lambda record: -record.score)[:top_k]

    def upsert(self, records: Sequence[Record], vectors: Any) -> None:
        for record, vector in zip(records, vectors, strict=True):
            self._held[record.source] = (record, vector)

    def delete_all(self) -> None:
        self._held.clear()

    def count(self) -> int:
        return len(self._held)
