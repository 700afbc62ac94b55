"""Which chunks wait for their embedding, since when, why, and when to try again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rootle.index.local.manifest import Manifest

_PAUSE: Final = "embedding_pause"


class PendingChunk(NamedTuple):
    """A chunk without its embedding."""

    chunk_id: int
    file_id: int
    failures: int  # that are the chunk's own


@dataclass(frozen=True, slots=True)
class RetryDelay:
    """How long the model is left alone after it failed."""

    failures: int = 0  # one after the other
    until_s: float = 0.0  # Unix time
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Backlog:
    """All that waits."""

    count: int
    since_s: float | None  # the oldest; Unix time
    reason: str  # empty where nothing has failed yet
    retry_at_s: float | None


class PendingEmbeddings:
    """The table `pending`. The caller opens the transactions.

    A model that is down holds up all chunks, and that is one note in `meta`; a chunk that a model
    refuses holds up itself alone.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._manifest = Manifest(connection)

    def add(self, file_id: int, chunk_ids: Iterable[int], now_s: float) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO pending VALUES (?, ?, ?, 0, 0, '')",
            ((chunk_id, file_id, now_s) for chunk_id in chunk_ids),
        )

    def due(self, now_s: float, limit: int) -> list[PendingChunk]:
        """At most `limit` chunks that may be tried now, those of a file together."""
        rows = self._connection.execute(
            "SELECT chunk_id, file_id, failures FROM pending WHERE retry_at_s <= ? "
            "ORDER BY file_id, chunk_id LIMIT ?",
            (now_s, limit),
        )
        return [PendingChunk(*row) for row in rows]

    def make_due(self) -> None:
        """Let all be tried now, whatever was said."""
        self._connection.execute("UPDATE pending SET retry_at_s = 0 WHERE retry_at_s > 0")

    def done(self, chunk_ids: Iterable[int]) -> None:
        self._connection.executemany(
            "DELETE FROM pending WHERE chunk_id = ?", ((chunk_id,) for chunk_id in chunk_ids)
        )

    def postpone(self, refused: Sequence[tuple[PendingChunk, float, str]]) -> None:
        """Leave chunks alone until a time each, for a reason."""
        self._connection.executemany(
            "UPDATE pending SET failures = ?, retry_at_s = ?, reason = ? WHERE chunk_id = ?",
            (
                (waiting.failures + 1, until_s, reason, waiting.chunk_id)
                for waiting, until_s, reason in refused
            ),
        )

    def pause(self) -> RetryDelay:
        stored = self._manifest.value(_PAUSE)
        return RetryDelay(*json.loads(stored)) if stored else RetryDelay()

    def set_pause(self, pause: RetryDelay) -> None:
        value = json.dumps([pause.failures, pause.until_s, pause.reason]) if pause.failures else ""
        self._manifest.set_value(_PAUSE, value)

    def backlog(self) -> Backlog:
        count, since_s, first_retry = self._connection.execute(
            "SELECT count(*), min(since_s), min(retry_at_s) FROM pending"
        ).fetchone()
        if not count:
            return Backlog(0, None, "", None)
        pause = self.pause()
        retry_at_s = max(first_retry, pause.until_s)
        return Backlog(
            count, since_s, pause.reason or self._usual_reason(), retry_at_s if retry_at_s else None
        )

    def _usual_reason(self) -> str:
        row = self._connection.execute(
            "SELECT reason FROM pending WHERE reason != '' "
            "GROUP BY reason ORDER BY count(*) DESC LIMIT 1"
        ).fetchone()
        return "" if row is None else str(row[0])
