"""Loads the memories of one user into a corpus, and updates the corpus before each search."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import numpy as np

from rootle.errors import UnavailableError
from rootle.memory import sql_statements
from rootle.memory.corpus import Corpus, Entry, Row
from rootle.memory.vocabulary import Vocabulary
from rootle.protocols import Embedder, Rows
from rootle.storage.quantization import quantize
from rootle.storage.transaction import write_transaction
from rootle.types import Memory

_EMBED_BATCH: Final = 256

_SELECT_CHANGED: Final = """
SELECT id, text, model, vector,
       (SELECT max(observed_at) FROM observations WHERE memory_id = id),
       (SELECT sum(count) FROM observations WHERE memory_id = id),
       is_personal
FROM memories WHERE user_id = ?
AND id IN (SELECT memory_id FROM observations WHERE number > ? AND user_id = ?
           UNION SELECT memory_id FROM origins WHERE number > ?)
"""

_MemoryRow = tuple[int, str, str, bytes, str, int, int]
_Position = tuple[int, int, int]  # numbers of the last observation, deletion and origin


class MemoryLoader:
    """The corpus of one user, updated incrementally from the database."""

    def __init__(self, user_id: str, vocabulary: Vocabulary, embedder: Embedder) -> None:
        self._user_id = user_id
        self._vocabulary = vocabulary
        self._embedder = embedder
        self._entries: dict[int, Entry] = {}
        self._position: _Position = (0, 0, 0)
        self._corpus: Corpus | None = None

    def load(self, connection: sqlite3.Connection, is_stopped: Callable[[], bool]) -> Corpus | None:
        """Return a corpus of the current memories; None if there are none.

        Raise UnavailableError as soon as `is_stopped` returns True while memories are loaded.
        """
        newest = _newest_position(connection)
        if newest != self._position and self._load_changes(connection, newest, is_stopped):
            entries = list(self._entries.values())
            self._corpus = Corpus(entries, len(self._vocabulary)) if entries else None
        return self._corpus

    def _load_changes(
        self, connection: sqlite3.Connection, newest: _Position, is_stopped: Callable[[], bool]
    ) -> bool:
        """Load the changes up to a position; return whether any memory of this user changed."""
        observation, deletion, origin = self._position
        changed: list[_MemoryRow] = connection.execute(
            _SELECT_CHANGED, (self._user_id, observation, self._user_id, origin)
        ).fetchall()
        ids = [row[0] for row in changed]
        references = sql_statements.load_references(connection, ids)
        origins = sql_statements.load_origins(connection, ids)
        for row, vector in zip(changed, self._load_vectors(connection, changed), strict=True):
            if is_stopped():
                raise UnavailableError("the memories were closed while they were loaded")
            memory_id, text, _, _, observed_at, count, is_personal = row
            memory = Memory(
                str(memory_id),
                text,
                observed_at,
                count=count,
                about=references.get(memory_id, ()),
                stored_in=origins.get(memory_id, ()),
                is_personal=bool(is_personal),
            )
            self._entries[memory_id] = self._make_entry(memory, vector)
        deleted = connection.execute(
            "SELECT memory_id FROM deletions WHERE user_id = ? AND number > ?",
            (self._user_id, deletion),
        ).fetchall()
        for (memory_id,) in deleted:
            self._entries.pop(memory_id, None)
        self._position = newest
        return bool(changed or deleted)

    def _make_entry(self, memory: Memory, vector: Row) -> Entry:
        stems = self._vocabulary.stem(memory.text)
        words = self._vocabulary.encode_memory(stems)
        frequencies = Counter(words)  # np.unique takes ten times as long for a short text
        return Entry(
            memory,
            datetime.fromisoformat(memory.created_at).timestamp(),
            np.fromiter(frequencies.keys(), dtype=np.int64, count=len(frequencies)),
            np.fromiter(frequencies.values(), dtype=np.int64, count=len(frequencies)),
            words[0] if words else -1,
            vector,
            self._vocabulary.subjects_of_memory(stems),
        )

    def _load_vectors(self, connection: sqlite3.Connection, changed: Sequence[_MemoryRow]) -> Rows:
        """Return one vector per memory; replace vectors of other models, in the database too."""
        dimensions = self._embedder.dimensions
        vectors = np.zeros((len(changed), dimensions), dtype=np.int8)
        outdated = []
        for at, (_, _, model, vector, *_) in enumerate(changed):
            if model == self._embedder.fingerprint and len(vector) == dimensions:
                vectors[at] = np.frombuffer(vector, dtype=np.int8)
            else:
                outdated.append(at)
        for start in range(0, len(outdated), _EMBED_BATCH):
            batch = outdated[start : start + _EMBED_BATCH]
            vectors[batch] = quantize(self._embedder.embed([changed[at][1] for at in batch]))
        if outdated:
            self._store(connection, [(vectors[at].tobytes(), changed[at][0]) for at in outdated])
        return vectors

    def _store(self, connection: sqlite3.Connection, vectors: Sequence[tuple[bytes, int]]) -> None:
        with write_transaction(connection):
            connection.executemany(
                "UPDATE memories SET model = ?, vector = ? WHERE id = ?",
                [(self._embedder.fingerprint, vector, memory_id) for vector, memory_id in vectors],
            )


def _newest_position(connection: sqlite3.Connection) -> _Position:
    """Return the numbers of the last observation, deletion and origin of any user."""
    (observation,) = connection.execute("SELECT max(number) FROM observations").fetchone()
    (deletion,) = connection.execute("SELECT max(number) FROM deletions").fetchone()
    (origin,) = connection.execute("SELECT max(number) FROM origins").fetchone()
    return observation or 0, deletion or 0, origin or 0
