"""SQL statements of the embedded memory store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rootle.protocols import Matrix
from rootle.storage.quantization import quantize
from rootle.types import Memory, MemoryReference

_SELECT_MEMORIES: Final = """
SELECT id, text, max(observed_at), sum(count), is_personal
FROM memories JOIN observations ON memory_id = id
"""
_MAX_PARAMETERS: Final = 500  # the maximum number of parameters in one SQL statement

_References = dict[int, tuple[MemoryReference, ...]]
_Origins = dict[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """An addition, repetition or deletion of a memory."""

    at: str  # ISO 8601, UTC
    what: Literal["added", "repeated", "forgotten"]
    memory_id: str
    text: str  # empty if the memory was deleted


def find_memory_id(connection: sqlite3.Connection, user_id: str, digest: bytes) -> int | None:
    """Return the id of the memory whose text has this digest; None if there is none."""
    row = connection.execute(
        "SELECT id FROM memories WHERE user_id = ? AND digest = ?", (user_id, digest)
    ).fetchone()
    return None if row is None else int(row[0])


def has_observation(connection: sqlite3.Connection, memory_id: int, observed_at: str) -> bool:
    """Return whether a memory was observed at exactly this time."""
    found = connection.execute(
        "SELECT 1 FROM observations WHERE memory_id = ? AND observed_at = ?",
        (memory_id, observed_at),
    )
    return found.fetchone() is not None


def insert_memory(
    connection: sqlite3.Connection,
    user_id: str,
    digest: bytes,
    text: str,
    model: str,
    vectors: Matrix,
) -> int:
    """Insert a memory without observations and return its id."""
    vector = quantize(vectors)[0].tobytes()
    cursor = connection.execute(
        "INSERT INTO memories (user_id, digest, text, model, vector) VALUES (?, ?, ?, ?, ?)",
        (user_id, digest, text, model, vector),
    )
    return int(cursor.lastrowid or 0)


def insert_observation(
    connection: sqlite3.Connection, memory_id: int, user_id: str, observed_at: str, count: int
) -> None:
    connection.execute(
        "INSERT INTO observations (memory_id, user_id, observed_at, count) VALUES (?, ?, ?, ?)",
        (memory_id, user_id, observed_at, count),
    )


def insert_references(
    connection: sqlite3.Connection, memory_id: int, about: Iterable[MemoryReference]
) -> None:
    connection.executemany(
        "INSERT INTO code_references (memory_id, root, path, symbol, digest) "
        "VALUES (?, ?, ?, ?, ?)",
        [(memory_id, one.root, one.path, one.symbol, one.digest) for one in about],
    )


def insert_origins(connection: sqlite3.Connection, memory_id: int, memory: Memory) -> None:
    """Add the projects in which a memory was stored, and mark a personal memory as personal."""
    connection.executemany(
        "INSERT OR IGNORE INTO origins (memory_id, root) VALUES (?, ?)",
        [(memory_id, root) for root in memory.stored_in],
    )
    if memory.is_personal:
        set_personal(connection, memory_id, is_personal=True)


def set_personal(connection: sqlite3.Connection, memory_id: int, *, is_personal: bool) -> None:
    connection.execute(
        "UPDATE memories SET is_personal = ? WHERE id = ?", (int(is_personal), memory_id)
    )


def load_memory(connection: sqlite3.Connection, memory_id: int) -> Memory:
    (row,) = connection.execute(f"{_SELECT_MEMORIES} WHERE id = ? GROUP BY id", (memory_id,))
    references = load_references(connection, [memory_id])
    return _read_memory(row, references, load_origins(connection, [memory_id]))


def load_memories(connection: sqlite3.Connection, user_id: str) -> list[Memory]:
    """Return every memory of a user, newest first."""
    rows = connection.execute(
        f"{_SELECT_MEMORIES} WHERE memories.user_id = ? "
        "GROUP BY id ORDER BY max(observed_at) DESC, id DESC",
        (user_id,),
    ).fetchall()
    ids = [row[0] for row in rows]
    references, origins = load_references(connection, ids), load_origins(connection, ids)
    return [_read_memory(row, references, origins) for row in rows]


def _read_memory(
    row: tuple[int, str, str, int, int], references: _References, origins: _Origins
) -> Memory:
    memory_id, text, observed_at, count, is_personal = row
    return Memory(
        str(memory_id),
        text,
        observed_at,
        count=count,
        about=references.get(memory_id, ()),
        stored_in=origins.get(memory_id, ()),
        is_personal=bool(is_personal),
    )


def load_origins(connection: sqlite3.Connection, ids: Sequence[int]) -> _Origins:
    """Return the projects in which each memory was stored, oldest first."""
    found: dict[int, tuple[str, ...]] = {}
    for start in range(0, len(ids), _MAX_PARAMETERS):
        batch = ids[start : start + _MAX_PARAMETERS]
        marks = ",".join("?" * len(batch))
        for memory_id, root in connection.execute(
            f"SELECT memory_id, root FROM origins WHERE memory_id IN ({marks}) ORDER BY number",
            batch,
        ):
            found[memory_id] = (*found.get(memory_id, ()), root)
    return found


def load_references(connection: sqlite3.Connection, ids: Sequence[int]) -> _References:
    """Return the references of memories, each with the file digest of its last observation."""
    newest: dict[int, dict[tuple[str, str, str], str]] = {}
    for start in range(0, len(ids), _MAX_PARAMETERS):
        batch = ids[start : start + _MAX_PARAMETERS]
        marks = ",".join("?" * len(batch))
        for memory_id, *place, digest in connection.execute(
            "SELECT memory_id, root, path, symbol, digest FROM code_references "
            f"WHERE memory_id IN ({marks}) ORDER BY rowid",
            batch,
        ):
            newest.setdefault(memory_id, {})[tuple(place)] = digest
    return {
        memory_id: tuple(
            MemoryReference(path, symbol, root, digest)
            for (root, path, symbol), digest in places.items()
        )
        for memory_id, places in newest.items()
    }


def delete_memories(
    connection: sqlite3.Connection, ids: Iterable[int], user_id: str, deleted_at: str
) -> list[str]:
    """Delete memories of a user and return the ids of those that existed.

    Only their ids, and the times of their observations and deletions, remain.
    """
    deleted = []
    for memory_id in dict.fromkeys(ids):
        cursor = connection.execute(
            "DELETE FROM memories WHERE id = ? AND user_id = ?", (memory_id, user_id)
        )
        if cursor.rowcount:
            for table in ("code_references", "origins"):
                connection.execute(f"DELETE FROM {table} WHERE memory_id = ?", (memory_id,))
            connection.execute(
                "INSERT INTO deletions (memory_id, user_id, deleted_at) VALUES (?, ?, ?)",
                (memory_id, user_id, deleted_at),
            )
            deleted.append(str(memory_id))
    return deleted


def load_events(connection: sqlite3.Connection, user_id: str) -> list[MemoryEvent]:
    """Return every observation and deletion, newest first."""
    observations = connection.execute(
        "SELECT observed_at, memory_id, text, number = ("
        "SELECT min(number) FROM observations AS first WHERE first.memory_id = own.memory_id) "
        "FROM observations AS own LEFT JOIN memories ON id = memory_id WHERE own.user_id = ?",
        (user_id,),
    )
    events = [
        MemoryEvent(at, "added" if is_first else "repeated", str(memory_id), text or "")
        for at, memory_id, text, is_first in observations
    ]
    deletions = connection.execute(
        "SELECT deleted_at, memory_id FROM deletions WHERE user_id = ?", (user_id,)
    )
    events += [MemoryEvent(at, "forgotten", str(memory_id), "") for at, memory_id in deletions]
    return sorted(events, key=_event_order, reverse=True)


def _event_order(event: MemoryEvent) -> tuple[str, bool, int]:
    return event.at, event.what == "forgotten", int(event.memory_id)
