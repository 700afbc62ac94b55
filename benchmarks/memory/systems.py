"""Who remembers: rootle, mem0's library with the same embedder, and BM25 alone, plain and English.

The formula of BM25 is that of `common/bm25.py`. "bm25" knows nothing of language: words in small letters.
"bm25-english" compares stems and leaves out stop words, the same ones as rootle does.

rootle lets memories that were told within half an hour help each other; "rootle-apart" is told each
turn half an hour after the last, as facts that nothing connects would be.
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
import tantivy

from benchmarks.memory.conversations import Turn
from rootle.embed.static import StaticEmbedder
from rootle.protocols import MemoryStore
from rootle.text.terms import STOP_WORDS

K1, B = 1.2, 0.75
APART_S = 1_860
_USER = "somebody"
_WORD = re.compile(r"\w+")


class System(Protocol):
    def tell(self, turn: Turn) -> None: ...

    def ask(self, question: str, asked_at: datetime, k: int) -> list[frozenset[int]]:
        """The best k memories, best first, each as the turns that it was told in."""

    def close(self) -> None: ...


class Stored:
    """A MemoryStore; turns with the same text are one memory to some."""

    def __init__(
        self, open_store: Callable[[Callable[[], float]], MemoryStore], pause_s: float = 0.0
    ) -> None:
        self._now = 0.0
        self._pause_s = pause_s
        self._store = open_store(lambda: self._now)
        self._turns: dict[str, set[int]] = defaultdict(set)
        self._count = 0

    def tell(self, turn: Turn) -> None:
        self._now = max(turn.told_at.timestamp(), self._now + self._pause_s)
        memory = self._store.add(turn.text, _USER)
        assert memory is not None
        self._turns[memory.id].add(self._count)
        self._count += 1

    def ask(self, question: str, asked_at: datetime, k: int) -> list[frozenset[int]]:
        self._now = asked_at.timestamp()
        found = self._store.search(question, _USER, k)
        return [frozenset(self._turns[memory.id]) for memory in found]

    def close(self) -> None:
        self._store.close()  # type: ignore[attr-defined]


class Bm25:
    """Robertson and Zaragoza, 2009, equation 3.15, with one added inside the logarithm."""

    def __init__(self, words: Callable[[str], Sequence[str]]) -> None:
        self._words = words
        self._where: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []

    def tell(self, turn: Turn) -> None:
        counts = Counter(self._words(turn.text))
        for word, count in counts.items():
            self._where[word].append((len(self._lengths), count))
        self._lengths.append(counts.total())

    def ask(self, question: str, _: datetime, k: int) -> list[frozenset[int]]:
        lengths = np.array(self._lengths, dtype=float)
        dampers = K1 * (1 - B + B * lengths / lengths.mean())
        scores = np.zeros(len(lengths))
        for word, times in Counter(self._words(question)).items():
            found = np.array(self._where.get(word, []), dtype=int).reshape(-1, 2)
            at, counts = found[:, 0], found[:, 1]
            rarity = np.log(1 + (len(lengths) - len(at) + 0.5) / (len(at) + 0.5))
            scores[at] += times * rarity * counts * (K1 + 1) / (counts + dampers[at])
        best = np.argsort(-scores, kind="stable")[:k]
        return [frozenset([at]) for at in best.tolist() if scores[at] > 0]

    def close(self) -> None:
        pass


def plain_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def english_words() -> Callable[[str], Sequence[str]]:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    stems = builder.filter(tantivy.Filter.stemmer("english")).build().analyze
    return lambda text: stems(
        " ".join(word for word in plain_words(text) if word not in STOP_WORDS)
    )


def open_system(name: str, folder: Path, embedder: StaticEmbedder) -> System:
    """An empty one, which may write into that folder."""
    return SYSTEMS[name](folder, embedder)


def _rootle(folder: Path, embedder: StaticEmbedder, pause_s: float = 0.0) -> System:
    from rootle.memory.embedded import EmbeddedMemory

    path = folder / "memories.db"
    return Stored(lambda now: EmbeddedMemory(path, lambda: embedder, clock=now), pause_s)


def _mem0(folder: Path, embedder: StaticEmbedder) -> System:
    from rootle.memory.mem0.library import Mem0Store

    return Stored(lambda _: Mem0Store(folder, lambda: embedder))


SYSTEMS: dict[str, Callable[[Path, StaticEmbedder], System]] = {
    "rootle": _rootle,
    "rootle-apart": partial(_rootle, pause_s=APART_S),
    "bm25": lambda *_: Bm25(plain_words),
    "bm25-english": lambda *_: Bm25(english_words()),
    "mem0": _mem0,
}
