"""One line of JSON for each question, in a file of the user's own that stays small."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from rootle.types import camel_case

_LOG = logging.getLogger(__name__)

# About ten thousand questions; the last full file is kept beside the one that fills.
MAX_BYTES: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class SearchLog:
    """What one question took and brought."""

    query: str
    num_dense_hits: int
    num_sparse_hits: int
    num_merged: int
    rerank_latency_ms: float
    total_latency_ms: float
    used_embedding_model: str
    used_reranker_model: str
    timestamp: str  # ISO 8601, UTC
    events: tuple[str, ...] = ()  # of rootle.telemetry.spans.EVENTS


# Made once: an answer from the cache takes little longer than its line in the log.
_KEYS: Final = tuple((field.name, camel_case(field.name)) for field in fields(SearchLog))
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


class SearchLogFile:
    """Appends lines; any number of processes and threads may do so at once.

    A line goes out in one write to the end of the file, which the operating system keeps whole. A
    full file is renamed, and the next line begins a new one.
    """

    def __init__(self, path: Path, *, with_query_text: bool, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._with_query_text = with_query_text
        self._max_bytes = max_bytes
        self._is_broken = False

    def write(self, log: SearchLog) -> None:
        """Append a line. Where that is impossible one warning says so, and no search fails."""
        if self._is_broken:
            return
        data = {key: getattr(log, name) for name, key in _KEYS}
        if not self._with_query_text:
            data["query"] = ""
        try:
            self._append(f"{_encode(data)}\n".encode("utf-8", "replace"))
        except OSError as error:
            self._is_broken = True
            _LOG.warning("no search is logged in %s (key searchLog): %s", self.path, error)

    def _append(self, line: bytes) -> None:
        try:
            file = self._open()
        except FileNotFoundError:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self._open()
        try:
            os.write(file, line)
            if os.fstat(file).st_size >= self._max_bytes:
                self._rotate(file)
        finally:
            os.close(file)

    def _open(self) -> int:
        # What somebody asks is nobody else's business.
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def _rotate(self, file: int) -> None:
        with suppress(FileNotFoundError, PermissionError):  # another process was, or is, at it
            if os.path.samestat(os.stat(self.path), os.fstat(file)):
                self.path.rename(self.path.with_name(f"{self._prefix}{time.time_ns()}.jsonl"))
        for old in self._surplus():
            old.unlink(missing_ok=True)

    @property
    def _prefix(self) -> str:
        return f"{self.path.stem}."

    def _surplus(self) -> Sequence[Path]:
        """Full files beyond the newest ones that together stay in bounds."""
        names = self.path.parent.glob(f"{self._prefix}*.jsonl")
        newest_first = sorted((path for path in names if path != self.path), reverse=True)
        total = 0
        for kept, path in enumerate(newest_first):
            with suppress(FileNotFoundError):
                total += path.stat().st_size
            if total > 2 * self._max_bytes:  # two full files are a little larger than that
                return newest_first[kept:]
        return ()
