"""Read from the database the changes that replication sends to a search server."""

from __future__ import annotations

import sqlite3
import uuid

import numpy as np

from rootle.index.local.docstore import DocStore
from rootle.index.local.manifest import Manifest
from rootle.index.reader import ChunkRow, FileState
from rootle.index.remote.protocol import Leg, RemoteChunk
from rootle.index.remote.replica_state import (
    STORE,
    ReplicaState,
    dump_state,
    index_name,
    parse_state,
    state_key,
)
from rootle.protocols import Vector
from rootle.storage.transaction import write_transaction
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import TermTable, place_terms, text_terms


class ChangeSource:
    """Reads the changes of a database in short transactions, so that writers do not wait."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._manifest = Manifest(connection)
        self._documents = DocStore(connection)
        self._table = TermTable(open_stemmer())

    @property
    def generation(self) -> int:
        return self._manifest.generation()

    @property
    def dimensions(self) -> int:
        return int(self._manifest.value("dimensions") or 0)

    @property
    def removals_known_since(self) -> int:
        """The generation after which the record of removed files is complete."""
        return int(self._manifest.value("removals_known_since") or 0)

    def index_name(self, root: str, leg: Leg) -> str:
        """Return the name of a leg's replica; assign an id to the database if it has none."""
        store = self._manifest.value(STORE)
        if store is None:
            store = uuid.uuid4().hex
            with write_transaction(self._connection):
                self._manifest.set_value(STORE, store)
        return index_name(root, store, self._manifest.value("fingerprint") or "", leg)

    def list_changes_since(self, generation: int) -> tuple[list[FileState], list[int]]:
        """Return the files changed since a generation, and the ids of removed files.

        The changed files are in the order of their generations.
        """
        changed, removed = self._manifest.list_changes_since(generation)
        return sorted(changed, key=lambda state: state.generation), removed

    def list_chunks(self, state: FileState, leg: Leg) -> list[RemoteChunk]:
        """Return the current chunks of a file that this leg can search."""
        self._connection.execute("BEGIN")
        try:
            rows = self._documents.list_chunks(state.id)
            if leg == "dense":
                packed = self._documents.read_vectors([state.id])
                vectors = {at: _normalize(raw) for at, _, raw in packed if any(raw)}
                found = [row for row in rows if row.id in vectors]
                return [_remote_chunk(state, row, vectors[row.id], "") for row in found]
            text = self._documents.text(state.id) if rows else ""
            return [_remote_chunk(state, row, None, self._terms(state, text, row)) for row in rows]
        finally:
            self._connection.execute("COMMIT")

    def _terms(self, state: FileState, text: str, row: ChunkRow) -> str:
        chunk_terms = text_terms(text[row.start : row.end], self._table)
        place = place_terms(state.path, self._table)
        title = text_terms(state.title, self._table)
        # A word without terms leaves two consecutive spaces.
        return " ".join(f"{chunk_terms} {place} {title}".split())

    def count_and_newest(self, leg: Leg) -> tuple[int, int]:
        """Return the number of chunks in a complete replica, and the largest chunk id."""
        return self._documents.count_and_newest(with_vector=leg == "dense")

    def state(self, leg: Leg) -> ReplicaState | None:
        """Return the stored state of a replica."""
        return parse_state(self._manifest.value(state_key(leg)))

    def set_state(self, leg: Leg, state: ReplicaState) -> None:
        """Store the state of a replica."""
        with write_transaction(self._connection):
            self._manifest.set_value(state_key(leg), dump_state(state))


def _normalize(packed: bytes) -> Vector:
    vector = np.frombuffer(packed, dtype=np.int8).astype(np.float32)
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


def _remote_chunk(
    state: FileState, row: ChunkRow, vector: Vector | None, terms: str
) -> RemoteChunk:
    return RemoteChunk(
        id=row.id,
        file_id=row.file_id,
        # File names may be invalid UTF-8, which requests must not contain.
        path=state.path.encode("utf-8", "replace").decode(),
        language=state.language,
        start_line=row.start_line,
        end_line=row.end_line,
        vector=vector,
        terms=terms,
    )
