"""The memories of one user at hand in this process, brought up to date before each search."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np

from rootle.memory import queries
from rootle.memory.corpus import Corpus, Entry
from rootle.memory.vocabulary import Vocabulary
from rootle.protocols import Embedder, Rows
from rootle.storage.quantization import quantize
from rootle.storage.transaction import write_transaction
from rootle.types import Memory

_EMBEDDED_AT_ONCE: Final = 256

_CHANGED: Final = """
SELECT id, text, model, vector,
       (SELECT max(told_at) FROM tellings WHERE memory_id = id),
       (SELECT sum(times) FROM tellings WHERE memory_id = id)
FROM memories WHERE user_id = ?
AND id IN (SELECT memory_id FROM tellings WHERE number > ? AND user_id = ?)
"""

_Row = tuple[int, str, str, bytes, str, int]


class MemoryLoader:
    """Reads what is new, and makes a corpus of all."""

    def __init__(self, user_id: str, words: Vocabulary, embedder: Embedder) -> None:
        self._user_id = user_id
        self._words = words
        self._embedder = embedder
        self._entries: dict[int, Entry] = {}
        self._seen = (0, 0)  # the numbers of the last telling and the last forgetting
        self._corpus: Corpus | None = None

    def corpus(self, connection: sqlite3.Connection) -> Corpus | None:
        """All memories as they are now; None where there is none."""
        newest = _newest(connection)
        if newest != self._seen and self._read(connection, newest):
            entries = list(self._entries.values())
            self._corpus = Corpus(entries, len(self._words)) if entries else None
        return self._corpus

    def _read(self, connection: sqlite3.Connection, newest: tuple[int, int]) -> bool:
        """Read what is new up to there; whether there was something of this user."""
        told, forgotten = self._seen
        changed: list[_Row] = connection.execute(
            _CHANGED, (self._user_id, told, self._user_id)
        ).fetchall()
        tied = queries.ties(connection, [row[0] for row in changed])
        for (memory_id, text, _, _, told_at, times), vector in zip(
            changed, self._vectors(connection, changed), strict=True
        ):
            memory = Memory(
                str(memory_id), text, told_at, count=times, about=tied.get(memory_id, ())
            )
            words = self._words.of_memory(text)
            counted = Counter(words)  # numpy takes ten times as long for so few
            numbers = np.fromiter(counted.keys(), dtype=np.int64, count=len(counted))
            counts = np.fromiter(counted.values(), dtype=np.int64, count=len(counted))
            first = words[0] if words else -1
            told_s = datetime.fromisoformat(told_at).timestamp()
            self._entries[memory_id] = Entry(memory, told_s, numbers, counts, first, vector)
        gone = connection.execute(
            "SELECT memory_id FROM forgotten WHERE user_id = ? AND number > ?",
            (self._user_id, forgotten),
        ).fetchall()
        for (memory_id,) in gone:
            self._entries.pop(memory_id, None)
        self._seen = newest
        return bool(changed or gone)

    def _vectors(self, connection: sqlite3.Connection, changed: Sequence[_Row]) -> Rows:
        """One row a memory; those of another model are made anew, and kept."""
        dimensions = self._embedder.dimensions
        stored = np.zeros((len(changed), dimensions), dtype=np.int8)
        old = []
        for at, (_, _, model, vector, _, _) in enumerate(changed):
            if model == self._embedder.fingerprint and len(vector) == dimensions:
                stored[at] = np.frombuffer(vector, dtype=np.int8)
            else:
                old.append(at)
        for start in range(0, len(old), _EMBEDDED_AT_ONCE):
            some = old[start : start + _EMBEDDED_AT_ONCE]
            stored[some] = quantize(self._embedder.embed([changed[at][1] for at in some]))
        if old:
            self._store(connection, [(stored[at].tobytes(), changed[at][0]) for at in old])
        return stored

    def _store(self, connection: sqlite3.Connection, vectors: Sequence[tuple[bytes, int]]) -> None:
        with write_transaction(connection):
            connection.executemany(
                "UPDATE memories SET model = ?, vector = ? WHERE id = ?",
                [(self._embedder.fingerprint, vector, at) for vector, at in vectors],
            )


def _newest(connection: sqlite3.Connection) -> tuple[int, int]:
    """The numbers of the last telling and the last forgetting, of whatever user."""
    (told,) = connection.execute("SELECT max(number) FROM tellings").fetchone()
    (forgotten,) = connection.execute("SELECT max(number) FROM forgotten").fetchone()
    return told or 0, forgotten or 0
