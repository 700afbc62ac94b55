"""The store of memories that is part of rootle: one SQLite file, searched by words and meaning."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from rootle.memory import queries
from rootle.memory.corpus import Topic
from rootle.memory.database import open_database, storage_errors
from rootle.memory.dates import asks_for_now, days_named
from rootle.memory.loader import MemoryLoader
from rootle.memory.queries import Event
from rootle.memory.vocabulary import Vocabulary
from rootle.protocols import Embedder, QueryEmbedder, Vector
from rootle.serialization.timestamps import format_timestamp
from rootle.storage.transaction import write_transaction
from rootle.text.terms import encodable
from rootle.types import Memory, MemoryReference

_DIGEST_BYTES: Final = 16


class EmbeddedMemory:
    """A MemoryStore in a file. Safe for several threads and several processes."""

    def __init__(
        self,
        path: Path,
        embedder: Callable[[], Embedder],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`embedder` is called when the first memory is kept or sought."""
        self.path = path
        self._open_embedder = embedder
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._inode = -1
        self._embedder: Embedder | None = None
        self._words: Vocabulary | None = None
        self._readers: dict[str, MemoryLoader] = {}

    @property
    def exists(self) -> bool:
        """Whether anything was ever remembered here."""
        return os.path.exists(self.path)

    def add(self, text: str, user_id: str, about: Sequence[MemoryReference] = ()) -> Memory:
        """Keep a text; one that differs from another in case or white space alone is the same."""
        told = Memory(
            "", encodable(text.strip()), format_timestamp(self._clock()), about=tuple(about)
        )
        with self._open() as connection, write_transaction(connection):
            memory_id = self._keep(connection, told, user_id)
            return queries.memory(connection, memory_id)

    def put(self, memories: Iterable[Memory], user_id: str) -> int:
        """Keep memories with the time and the count that they have; says how many are new.

        One that was told at the same time before is passed over.
        """
        new = 0
        with self._open() as connection, write_transaction(connection):
            for memory in memories:
                known = queries.find(connection, user_id, _digest(memory.text))
                if known is None or not queries.was_told(connection, known, memory.created_at):
                    self._keep(connection, memory, user_id)
                    new += 1
        return new

    def search(
        self, topic: str, user_id: str, top_k: int, about: Sequence[MemoryReference] = ()
    ) -> list[Memory]:
        """Memories that fit by their words, their meaning, their time or what they are about."""
        if not self.exists or top_k < 1:
            return []
        with self._open() as connection:
            corpus = self._reader(user_id).corpus(connection)
            if corpus is None:
                return []
            return corpus.best(self._topic(topic, about), top_k)

    def all(self, user_id: str) -> list[Memory]:
        """Every memory, the newest first."""
        if not self.exists:
            return []
        with self._open() as connection:
            return queries.memories(connection, user_id)

    def forget(self, ids: Iterable[str], user_id: str) -> list[str]:
        """Wipe memories out; returns the ids of those that there were."""
        if not self.exists:
            return []
        wanted = [int(one) for one in ids if one.isdecimal()]
        with self._open() as connection:
            with write_transaction(connection):
                gone = queries.forget(connection, wanted, user_id, format_timestamp(self._clock()))
            # What was wiped out of the database stands in its journal until that is emptied.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    def events(self, user_id: str) -> list[Event]:
        """What was told and forgotten when, the newest first."""
        if not self.exists:
            return []
        with self._open() as connection:
            return queries.events(connection, user_id)

    def close(self) -> None:
        """Let go of the file; the store can be used again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._readers.clear()

    def _keep(self, connection: sqlite3.Connection, told: Memory, user_id: str) -> int:
        digest = _digest(told.text)
        memory_id = queries.find(connection, user_id, digest)
        if memory_id is None:
            model = self._model()
            memory_id = queries.add(
                connection, user_id, digest, told.text, model.fingerprint, model.embed([told.text])
            )
        queries.tell(connection, memory_id, user_id, told.created_at, told.count)
        queries.tie(connection, memory_id, told.about)
        return memory_id

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, opened anew where the file is another one than before."""
        with self._lock:
            inode = os.stat(self.path).st_ino if self.exists else -1
            if self._connection is None or inode != self._inode:
                self.close()
                self._connection = open_database(self.path)
                self._inode = os.stat(self.path).st_ino
            with storage_errors(self.path):
                yield self._connection

    def _reader(self, user_id: str) -> MemoryLoader:
        if user_id not in self._readers:
            self._words = self._words or Vocabulary()
            self._readers[user_id] = MemoryLoader(user_id, self._words, self._model())
        return self._readers[user_id]

    def _model(self) -> Embedder:
        self._embedder = self._embedder or self._open_embedder()
        return self._embedder

    def _topic(self, topic: str, about: Sequence[MemoryReference]) -> Topic:
        words = self._words = self._words or Vocabulary()
        numbers = words.of_topic(topic)
        return Topic(
            numbers,
            words.weights(numbers),
            self._question_vector(topic),
            days_named(topic, self._today()),
            asks_for_now(topic),
            frozenset(one.place for one in about),
        )

    def _question_vector(self, topic: str) -> Vector:
        model = self._model()
        if isinstance(model, QueryEmbedder):
            return model.embed_query(topic)
        vector: Vector = model.embed([topic])[0]
        return vector

    def _today(self) -> date:
        return datetime.fromtimestamp(self._clock(), UTC).date()


def _digest(text: str) -> bytes:
    """The same for texts that differ in white space and case alone."""
    plain = " ".join(text.split()).casefold()
    return hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=_DIGEST_BYTES).digest()
