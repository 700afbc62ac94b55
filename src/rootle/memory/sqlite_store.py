"""The default memory store: one SQLite file, searched by terms, meaning, dates and references."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from rootle.memory import sql_statements
from rootle.memory.corpus import IsVisible, Place, Topic
from rootle.memory.database import open_database, storage_errors, text_digest
from rootle.memory.dates import asks_for_present, parse_dates
from rootle.memory.loader import MemoryLoader
from rootle.memory.sql_statements import MemoryEvent
from rootle.memory.visibility import find_places
from rootle.memory.vocabulary import Vocabulary, significant_words
from rootle.protocols import Embedder, QueryEmbedder, Vector
from rootle.serialization.timestamps import format_timestamp
from rootle.storage.transaction import write_transaction
from rootle.text.terms import encodable
from rootle.types import Memory, MemoryOrigin, MemoryReference

_MAX_ID_DIGITS: Final = 18  # numbers of this length fit into an INTEGER of SQLite


class EmbeddedMemory:
    """A MemoryStore in a local file. Safe for several threads and several processes."""

    def __init__(
        self,
        path: Path,
        open_embedder: Callable[[], Embedder],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create a store. It opens no file and no model before its first use."""
        self.path = path
        self._open_embedder = open_embedder
        self._clock = clock
        self._lock = threading.RLock()
        self._is_closing = threading.Event()  # ends the loading of memories in another thread
        self._connection: sqlite3.Connection | None = None
        self._inode = -1
        self._embedder: Embedder | None = None
        self._embed_query: Callable[[str], Vector] | None = None
        self._vocabulary: Vocabulary | None = None
        self._loaders: dict[str, MemoryLoader] = {}

    @property
    def exists(self) -> bool:
        """Whether the file exists. The first memory creates it."""
        return os.path.exists(self.path)

    def add(
        self,
        text: str,
        user_id: str,
        about: Sequence[MemoryReference] = (),
        origin: MemoryOrigin | None = None,
    ) -> Memory:
        """Store a text. Texts that differ only in case or white space count as one memory."""
        memory = Memory(
            "",
            encodable(text.strip()),
            format_timestamp(self._clock(), timespec="milliseconds"),
            about=tuple(about),
            stored_in=(origin.root,) if origin and origin.root else (),
            is_personal=origin is not None and origin.is_personal,
        )
        with self._connect() as connection, write_transaction(connection):
            memory_id = self._observe(connection, memory, user_id)
            if origin is not None and origin.is_chosen:
                sql_statements.set_personal(connection, memory_id, is_personal=origin.is_personal)
            return sql_statements.load_memory(connection, memory_id)

    def import_memories(self, memories: Iterable[Memory], user_id: str) -> int:
        """Store memories with their times and counts; return how many were new.

        If a memory exists already, it keeps the larger of the stored and the imported count, so
        that a second import of the same memories changes nothing. It also gets the projects and
        references that it does not have yet.
        """
        new = 0
        with self._connect() as connection, write_transaction(connection):
            for memory in memories:
                known = sql_statements.find_memory_id(connection, user_id, text_digest(memory.text))
                if known is None:
                    self._observe(connection, memory, user_id)
                    new += 1
                else:
                    self._merge(connection, known, memory, user_id)
        return new

    def search(
        self,
        topic: str,
        user_id: str,
        top_k: int,
        about: Sequence[MemoryReference] = (),
        *,
        is_visible: IsVisible | None = None,
    ) -> list[Memory]:
        """Return at most `top_k` memories that match a topic or refer to `about`, best first.

        Memories for which `is_visible` is false are left out.
        """
        if not self.exists or top_k < 1:
            return []
        with self._connect() as connection:
            corpus = self._loader(user_id).load(connection, self._is_closing.is_set)
            if corpus is None:
                return []
            places = find_places(about, corpus.roots)
            return corpus.search(self._parse_topic(topic, places), top_k, is_visible)

    def list_memories(self, user_id: str) -> list[Memory]:
        """Return every memory, newest first."""
        if not self.exists:
            return []
        with self._connect() as connection:
            return sql_statements.load_memories(connection, user_id)

    def forget(self, ids: Iterable[str], user_id: str) -> list[str]:
        """Delete memories and erase their texts from disk; return the ids of those that existed."""
        if not self.exists:
            return []
        numbers = [int(one) for one in ids if one.isdecimal() and len(one) <= _MAX_ID_DIGITS]
        now = format_timestamp(self._clock(), timespec="milliseconds")
        with self._connect() as connection:
            with write_transaction(connection):
                deleted = sql_statements.delete_memories(connection, numbers, user_id, now)
            # The write-ahead log still contains the texts until it is truncated.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return deleted

    def list_events(self, user_id: str) -> list[MemoryEvent]:
        """Return every addition, repetition and deletion, newest first."""
        if not self.exists:
            return []
        with self._connect() as connection:
            return sql_statements.load_events(connection, user_id)

    def close(self) -> None:
        """Close the file. The next use opens it again.

        A search that is still loading many memories in another thread fails.
        """
        self._is_closing.set()
        with self._lock:
            self._close_connection()
            self._is_closing.clear()

    def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._loaders.clear()

    def _observe(self, connection: sqlite3.Connection, memory: Memory, user_id: str) -> int:
        """Record an observation of a memory; insert the memory if it is new. Return its id."""
        digest = text_digest(memory.text)
        memory_id = sql_statements.find_memory_id(connection, user_id, digest)
        if memory_id is None:
            model = self._model()
            vectors = model.embed([memory.text])
            memory_id = sql_statements.insert_memory(
                connection, user_id, digest, memory.text, model.fingerprint, vectors
            )
        sql_statements.insert_observation(
            connection, memory_id, user_id, memory.created_at, memory.count
        )
        sql_statements.insert_references(connection, memory_id, memory.about)
        sql_statements.insert_origins(connection, memory_id, memory)
        return memory_id

    def _merge(
        self, connection: sqlite3.Connection, memory_id: int, memory: Memory, user_id: str
    ) -> None:
        """Add the new parts of an imported memory to a known one."""
        known = sql_statements.load_memory(connection, memory_id)
        if not sql_statements.has_observation(connection, memory_id, memory.created_at):
            count = max(0, memory.count - known.count)
            sql_statements.insert_observation(
                connection, memory_id, user_id, memory.created_at, count
            )
        places = {about.place for about in known.about}
        is_newer = memory.created_at > known.created_at
        about = [one for one in memory.about if is_newer or one.place not in places]
        sql_statements.insert_references(connection, memory_id, about)
        # An old export must not undo a later decision on whether a memory is personal.
        is_personal = memory.is_personal if is_newer else known.is_personal
        origins = replace(memory, is_personal=is_personal)
        sql_statements.insert_origins(connection, memory_id, origins)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, reopened if the file was replaced or deleted."""
        with self._lock:
            inode = os.stat(self.path).st_ino if self.exists else -1
            if self._connection is None or inode != self._inode:
                self._close_connection()
                self._connection = open_database(self.path)
                self._inode = os.stat(self.path).st_ino
            with storage_errors(self.path):
                yield self._connection

    def _loader(self, user_id: str) -> MemoryLoader:
        if user_id not in self._loaders:
            self._vocabulary = self._vocabulary or Vocabulary()
            self._loaders[user_id] = MemoryLoader(user_id, self._vocabulary, self._model())
        return self._loaders[user_id]

    def _model(self) -> Embedder:
        self._embedder = self._embedder or self._open_embedder()
        return self._embedder

    def _parse_topic(self, topic: str, places: frozenset[Place]) -> Topic:
        vocabulary = self._vocabulary = self._vocabulary or Vocabulary()
        return Topic(
            vocabulary.parse_topic(topic),
            self._embed_topic(topic),
            lambda: self._embed_topic(significant_words(topic)),
            parse_dates(topic, self._today()),
            asks_for_present(topic),
            places,
        )

    def _embed_topic(self, topic: str) -> Vector:
        if self._embed_query is None:
            self._embed_query = _query_embedding(self._model())
        return self._embed_query(topic)

    def _today(self) -> date:
        return datetime.fromtimestamp(self._clock(), UTC).date()


def _query_embedding(model: Embedder) -> Callable[[str], Vector]:
    """Return the function that embeds a topic. The type check is slow, so it is done only once."""
    if isinstance(model, QueryEmbedder):
        return model.embed_query

    def embed(topic: str) -> Vector:
        vector: Vector = model.embed([topic])[0]
        return vector

    return embed
