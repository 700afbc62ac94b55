"""The database as a server's index is fed from it: what changed, in which chunks, how many."""

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
    index_name,
    key_of_record,
    read_record,
    write_record,
)
from rootle.protocols import Vector
from rootle.storage.transaction import write_transaction
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import TermTable, place_terms, text_terms


class ChangeSource:
    """Reads what a feed needs; a look is a transaction of its own, so that no writer waits."""

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
        """The generation from which on it is known which files were removed."""
        return int(self._manifest.value("removals_known_since") or 0)

    def index_name(self, root: str, leg: Leg) -> str:
        """The name of a leg's index; this database gets one of its own where it has none."""
        store = self._manifest.value(STORE)
        if store is None:
            store = uuid.uuid4().hex
            with write_transaction(self._connection):
                self._manifest.set_value(STORE, store)
        return index_name(root, store, self._manifest.value("fingerprint") or "", leg)

    def changed_since(self, generation: int) -> tuple[list[FileState], list[int]]:
        """Files that changed, in the order in which they did; the ids of those removed."""
        changed, removed = self._manifest.changed_since(generation)
        return sorted(changed, key=lambda state: state.generation), removed

    def chunks_of(self, state: FileState, leg: Leg) -> list[RemoteChunk]:
        """The chunks of a file as they are now, as far as this leg can find them."""
        self._connection.execute("BEGIN")
        try:
            rows = self._documents.chunks_of(state.id)
            if leg == "dense":
                packed = self._documents.vectors_of([state.id])
                vectors = {at: _unit(raw) for at, _, raw in packed if any(raw)}
                found = [row for row in rows if row.id in vectors]
                return [_remote(state, row, vectors[row.id], "") for row in found]
            text = self._documents.text(state.id) if rows else ""
            return [_remote(state, row, None, self._terms(state, text, row)) for row in rows]
        finally:
            self._connection.execute("COMMIT")

    def _terms(self, state: FileState, text: str, row: ChunkRow) -> str:
        own = text_terms(text[row.start : row.end], self._table)
        # A word without terms leaves two spaces beside each other.
        place = place_terms(state.path, self._table)
        return " ".join(f"{own} {place} {text_terms(state.title, self._table)}".split())

    def count_and_newest(self, leg: Leg) -> tuple[int, int]:
        """How many chunks a leg's index holds when it is whole, and the id of the newest."""
        return self._documents.count_and_newest(with_vector=leg == "dense")

    def record(self, leg: Leg) -> ReplicaState | None:
        return read_record(self._manifest.value(key_of_record(leg)))

    def set_record(self, leg: Leg, record: ReplicaState) -> None:
        with write_transaction(self._connection):
            self._manifest.set_value(key_of_record(leg), write_record(record))


def _unit(packed: bytes) -> Vector:
    vector = np.frombuffer(packed, dtype=np.int8).astype(np.float32)
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


def _remote(state: FileState, row: ChunkRow, vector: Vector | None, terms: str) -> RemoteChunk:
    return RemoteChunk(
        id=row.id,
        file_id=row.file_id,
        # A file name need not be UTF-8, what goes over the wire must be.
        path=state.path.encode("utf-8", "replace").decode(),
        language=state.language,
        start_line=row.start_line,
        end_line=row.end_line,
        vector=vector,
        terms=terms,
    )
