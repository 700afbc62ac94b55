"""Memory systems to compare: rootle, mem0 with the same embedder, and BM25 alone.

"bm25" compares lower-case words; "bm25-english" compares stems and leaves out rootle's stop words.

In rootle's ranking, the terms of a memory also count for the memories stored just before and after
it, unless more than half an hour lies between them. "rootle-apart" stores every turn more than half
an hour after the previous one, like unrelated facts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from benchmarks.common.bm25 import length_norms, term_scores
from benchmarks.memory.conversations import Turn
from rootle.embed.static import StaticEmbedder
from rootle.memory.sqlite_store import EmbeddedMemory
from rootle.protocols import MemoryStore
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import STOP_WORDS

APART_S = 1_860
_USER = "user"
_WORD = re.compile(r"\w+")

Clock = Callable[[], float]  # seconds since the epoch


class MemorySystem(Protocol):
    """A system that stores turns and searches them."""

    def store(self, turn: Turn) -> None: ...

    def search(self, query: str, asked_at: datetime, k: int) -> list[frozenset[int]]:
        """Return the best k memories, best first, each as a set of turn numbers."""

    def close(self) -> None: ...


class ClosableStore(MemoryStore, Protocol):
    """A memory store that must be closed, because it holds files or connections."""

    def close(self) -> None: ...


class StoreSystem:
    """A memory store of rootle; it may merge turns with equal text into one memory."""

    def __init__(
        self,
        open_store: Callable[[Clock], ClosableStore],
        interval_s: float = 0.0,
    ) -> None:
        """Store each turn at least `interval_s` after the previous one."""
        self._now = 0.0
        self._interval_s = interval_s
        self._store = open_store(lambda: self._now)
        self._turns: dict[str, set[int]] = defaultdict(set)
        self._count = 0

    def store(self, turn: Turn) -> None:
        self._now = max(turn.sent_at.timestamp(), self._now + self._interval_s)
        memory = self._store.add(turn.text, _USER)
        assert memory is not None
        self._turns[memory.id].add(self._count)
        self._count += 1

    def search(self, query: str, asked_at: datetime, k: int) -> list[frozenset[int]]:
        self._now = asked_at.timestamp()
        found = self._store.search(query, _USER, k)
        return [frozenset(self._turns[memory.id]) for memory in found]

    def close(self) -> None:
        self._store.close()


class Bm25System:
    """BM25 over turns, with the formula of `benchmarks/common/bm25.py`."""

    def __init__(self, split: Callable[[str], Sequence[str]]) -> None:
        self._split = split
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []

    def store(self, turn: Turn) -> None:
        counts = Counter(self._split(turn.text))
        for word, count in counts.items():
            self._postings[word].append((len(self._lengths), count))
        self._lengths.append(counts.total())

    def search(self, query: str, _: datetime, k: int) -> list[frozenset[int]]:
        norms = length_norms(np.array(self._lengths, dtype=float))
        scores = np.zeros(len(norms))
        for word, times in Counter(self._split(query)).items():
            postings = np.array(self._postings.get(word, []), dtype=int).reshape(-1, 2)
            turns, counts = postings[:, 0], postings[:, 1]
            scores[turns] += times * term_scores(counts, norms[turns], len(norms))
        best = np.argsort(-scores, kind="stable")[:k]
        return [frozenset([turn]) for turn in best.tolist() if scores[turn] > 0]

    def close(self) -> None:
        pass


def plain_words(text: str) -> list[str]:
    """Return the lower-case words of a text."""
    return _WORD.findall(text.lower())


def english_words() -> Callable[[str], Sequence[str]]:
    """Return a function that returns the English stems of a text without stop words."""
    stem = open_stemmer()
    return lambda text: stem(" ".join(word for word in plain_words(text) if word not in STOP_WORDS))


def open_system(name: str, folder: Path, embedder: StaticEmbedder) -> MemorySystem:
    """Return an empty system that may write to a folder."""
    return SYSTEMS[name](folder, embedder)


def _open_rootle(folder: Path, embedder: StaticEmbedder, interval_s: float = 0.0) -> MemorySystem:
    path = folder / "memories.db"
    return StoreSystem(
        lambda clock: EmbeddedMemory(path, lambda: embedder, clock=clock), interval_s
    )


def _open_mem0(folder: Path, embedder: StaticEmbedder) -> MemorySystem:
    from rootle.memory.mem0.library import Mem0Store  # optional: needs mem0ai

    return StoreSystem(lambda _: Mem0Store(folder, lambda: embedder))


SYSTEMS: dict[str, Callable[[Path, StaticEmbedder], MemorySystem]] = {
    "rootle": _open_rootle,
    "rootle-apart": partial(_open_rootle, interval_s=APART_S),
    "bm25": lambda *_: Bm25System(plain_words),
    "bm25-english": lambda *_: Bm25System(english_words()),
    "mem0": _open_mem0,
}
