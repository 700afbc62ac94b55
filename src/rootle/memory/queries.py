"""What is asked of the database of memories, statement by statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rootle.protocols import Matrix
from rootle.storage.quantization import quantize
from rootle.types import Memory, MemoryReference

_MEMORIES: Final = """
SELECT id, text, max(told_at), sum(times) FROM memories JOIN tellings ON memory_id = id
"""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a memory."""

    at: str  # ISO 8601, UTC
    what: Literal["added", "told again", "forgotten"]
    memory_id: str
    text: str  # empty where it was forgotten since


def find(connection: sqlite3.Connection, user_id: str, digest: bytes) -> int | None:
    """The number of a memory by its text."""
    found = connection.execute(
        "SELECT id FROM memories WHERE user_id = ? AND digest = ?", (user_id, digest)
    ).fetchone()
    return None if found is None else int(found[0])


def was_told(connection: sqlite3.Connection, memory_id: int, told_at: str) -> bool:
    found = connection.execute(
        "SELECT 1 FROM tellings WHERE memory_id = ? AND told_at = ?", (memory_id, told_at)
    )
    return found.fetchone() is not None


def add(
    connection: sqlite3.Connection,
    user_id: str,
    digest: bytes,
    text: str,
    model: str,
    vectors: Matrix,
) -> int:
    """A new memory, which was never told yet; returns its number."""
    vector = quantize(vectors)[0].tobytes()
    added = connection.execute(
        "INSERT INTO memories (user_id, digest, text, model, vector) VALUES (?, ?, ?, ?, ?)",
        (user_id, digest, text, model, vector),
    )
    return int(added.lastrowid or 0)


def tell(
    connection: sqlite3.Connection, memory_id: int, user_id: str, told_at: str, times: int
) -> None:
    connection.execute(
        "INSERT INTO tellings (memory_id, user_id, told_at, times) VALUES (?, ?, ?, ?)",
        (memory_id, user_id, told_at, times),
    )


def tie(connection: sqlite3.Connection, memory_id: int, about: Iterable[MemoryReference]) -> None:
    connection.executemany(
        "INSERT INTO ties (memory_id, root, path, symbol, digest) VALUES (?, ?, ?, ?, ?)",
        [(memory_id, one.root, one.path, one.symbol, one.digest) for one in about],
    )


def memory(connection: sqlite3.Connection, memory_id: int) -> Memory:
    (row,) = connection.execute(f"{_MEMORIES} WHERE id = ? GROUP BY id", (memory_id,))
    return _memory(row, ties(connection, [memory_id]))


def memories(connection: sqlite3.Connection, user_id: str) -> list[Memory]:
    """Every memory of a user, the newest first."""
    found = connection.execute(
        f"{_MEMORIES} WHERE memories.user_id = ? GROUP BY id ORDER BY max(told_at) DESC, id DESC",
        (user_id,),
    ).fetchall()
    tied = ties(connection, [row[0] for row in found])
    return [_memory(row, tied) for row in found]


def _memory(row: tuple[int, str, str, int], tied: dict[int, tuple[MemoryReference, ...]]) -> Memory:
    memory_id, text, told_at, times = row
    return Memory(str(memory_id), text, told_at, count=times, about=tied.get(memory_id, ()))


def ties(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> dict[int, tuple[MemoryReference, ...]]:
    """What memories are about, each file and symbol as it was when it was last told of."""
    newest: dict[int, dict[tuple[str, str, str], str]] = {}
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        marks = ",".join("?" * len(some))
        for memory_id, *place, digest in connection.execute(
            "SELECT memory_id, root, path, symbol, digest FROM ties "
            f"WHERE memory_id IN ({marks}) ORDER BY rowid",
            some,
        ):
            newest.setdefault(memory_id, {})[tuple(place)] = digest
    return {
        memory_id: tuple(
            MemoryReference(path, symbol, root, digest)
            for (root, path, symbol), digest in places.items()
        )
        for memory_id, places in newest.items()
    }


def forget(
    connection: sqlite3.Connection, ids: Iterable[int], user_id: str, forgotten_at: str
) -> list[str]:
    """Delete memories of a user; only that there were some, and when, stays."""
    gone = []
    for memory_id in dict.fromkeys(ids):
        deleted = connection.execute(
            "DELETE FROM memories WHERE id = ? AND user_id = ?", (memory_id, user_id)
        )
        if deleted.rowcount:
            connection.execute("DELETE FROM ties WHERE memory_id = ?", (memory_id,))
            connection.execute(
                "INSERT INTO forgotten (memory_id, user_id, forgotten_at) VALUES (?, ?, ?)",
                (memory_id, user_id, forgotten_at),
            )
            gone.append(str(memory_id))
    return gone


def events(connection: sqlite3.Connection, user_id: str) -> list[Event]:
    """What was told and forgotten, the newest first."""
    told = connection.execute(
        "SELECT told_at, memory_id, text, "
        "number = (SELECT min(number) FROM tellings AS first WHERE memory_id = own.memory_id) "
        "FROM tellings AS own LEFT JOIN memories ON id = memory_id WHERE own.user_id = ?",
        (user_id,),
    )
    happened = [
        Event(at, "added" if is_first else "told again", str(memory_id), text or "")
        for at, memory_id, text, is_first in told
    ]
    gone = connection.execute(
        "SELECT forgotten_at, memory_id FROM forgotten WHERE user_id = ?", (user_id,)
    )
    happened += [Event(at, "forgotten", str(memory_id), "") for at, memory_id in gone]
    return sorted(happened, key=_when, reverse=True)


def _when(event: Event) -> tuple[str, bool, int]:
    return event.at, event.what == "forgotten", int(event.memory_id)
