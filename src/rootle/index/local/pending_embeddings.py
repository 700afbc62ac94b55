"""Chunks whose embedding is pending, with the reasons and the times of the next attempts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rootle.index.local.manifest import Manifest

_DELAY: Final = "embedding_pause"


class PendingChunk(NamedTuple):
    """A chunk without an embedding."""

    chunk_id: int
    file_id: int
    failures: int  # failures of this chunk, not of the model


@dataclass(frozen=True, slots=True)
class RetryDelay:
    """The delay before the model is called again after a failure."""

    failures: int = 0  # consecutive
    until_s: float = 0.0  # Unix time
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Backlog:
    """A summary of all pending chunks."""

    count: int
    since_s: float | None  # Unix time since which the oldest one is pending
    reason: str  # "" if nothing has failed yet
    retry_at_s: float | None


class PendingEmbeddings:
    """The table `pending`. The caller opens the transactions.

    If the model is unavailable, one delay, which is stored in the table `meta`, applies to all
    chunks. A chunk that the model rejects also has a separate delay.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._manifest = Manifest(connection)

    def add(self, file_id: int, chunk_ids: Iterable[int], now_s: float) -> None:
        """Add chunks of a file."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO pending VALUES (?, ?, ?, 0, 0, '')",
            ((chunk_id, file_id, now_s) for chunk_id in chunk_ids),
        )

    def due(self, now_s: float, limit: int) -> list[PendingChunk]:
        """Return at most `limit` chunks that may be tried now, grouped by file."""
        rows = self._connection.execute(
            "SELECT chunk_id, file_id, failures FROM pending WHERE retry_at_s <= ? "
            "ORDER BY file_id, chunk_id LIMIT ?",
            (now_s, limit),
        )
        return [PendingChunk(*row) for row in rows]

    def make_due(self) -> None:
        """Allow all chunks to be tried now."""
        self._connection.execute("UPDATE pending SET retry_at_s = 0 WHERE retry_at_s > 0")

    def remove(self, chunk_ids: Iterable[int]) -> None:
        """Delete the rows of chunks that now have an embedding."""
        self._connection.executemany(
            "DELETE FROM pending WHERE chunk_id = ?", ((chunk_id,) for chunk_id in chunk_ids)
        )

    def postpone(self, refused: Sequence[tuple[PendingChunk, float, str]]) -> None:
        """Record rejected chunks, given as (chunk, time of the next attempt, reason)."""
        self._connection.executemany(
            "UPDATE pending SET failures = ?, retry_at_s = ?, reason = ? WHERE chunk_id = ?",
            (
                (chunk.failures + 1, until_s, reason, chunk.chunk_id)
                for chunk, until_s, reason in refused
            ),
        )

    def retry_delay(self) -> RetryDelay:
        """Return the retry delay of the model."""
        stored = self._manifest.value(_DELAY)
        return RetryDelay(*json.loads(stored)) if stored else RetryDelay()

    def set_retry_delay(self, delay: RetryDelay) -> None:
        """Store the retry delay of the model."""
        value = json.dumps([delay.failures, delay.until_s, delay.reason]) if delay.failures else ""
        self._manifest.set_value(_DELAY, value)

    def backlog(self) -> Backlog:
        """Return a summary of the pending chunks."""
        count, since_s, first_retry = self._connection.execute(
            "SELECT count(*), min(since_s), min(retry_at_s) FROM pending"
        ).fetchone()
        if not count:
            return Backlog(0, None, "", None)
        delay = self.retry_delay()
        retry_at_s = max(first_retry, delay.until_s)
        return Backlog(
            count,
            since_s,
            delay.reason or self._most_common_reason(),
            retry_at_s if retry_at_s else None,
        )

    def _most_common_reason(self) -> str:
        row = self._connection.execute(
            "SELECT reason FROM pending WHERE reason != '' "
            "GROUP BY reason ORDER BY count(*) DESC LIMIT 1"
        ).fetchone()
        return "" if row is None else str(row[0])
