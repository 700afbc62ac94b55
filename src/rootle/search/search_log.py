"""The search log: one JSON line per search, in a file of limited size."""

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

from rootle.storage.permissions import PRIVATE_FILE, make_private_dir
from rootle.text.secret_masking import mask_secrets
from rootle.types import camel_case

_LOG = logging.getLogger(__name__)

# About ten thousand searches. A full file is renamed, and the newest full files are kept.
MAX_BYTES: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class SearchLog:
    """The log record of one search."""

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


# Computed once: answering from the cache takes little longer than writing the log line.
_KEYS: Final = tuple((field.name, camel_case(field.name)) for field in fields(SearchLog))
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


class SearchLogFile:
    """Appends lines to a file. Safe to use from many processes and threads.

    Each line is appended with a single write, which the operating system does not interleave with
    other writes. A full file is renamed, and the next line starts a new file.
    """

    def __init__(self, path: Path, *, with_query_text: bool, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._with_query_text = with_query_text
        self._max_bytes = max_bytes
        self._is_broken = False

    def write(self, log: SearchLog) -> None:
        """Append a line. On failure, log one warning and write nothing more."""
        if self._is_broken:
            return
        data = {key: getattr(log, name) for name, key in _KEYS}
        if not self._with_query_text:
            data["query"] = ""
        data["query"] = mask_secrets(data["query"]).text
        try:
            self._append(f"{_encode(data)}\n".encode("utf-8", "replace"))
        except OSError as error:
            self._is_broken = True
            _LOG.warning("cannot write the search log %s (key searchLog): %s", self.path, error)

    def _append(self, line: bytes) -> None:
        try:
            file = self._open()
        except FileNotFoundError:
            make_private_dir(self.path.parent)
            file = self._open()
        try:
            os.write(file, line)
            if os.fstat(file).st_size >= self._max_bytes:
                self._rotate(file)
        finally:
            os.close(file)

    def _open(self) -> int:
        # Questions are private: only the owner may read the file.
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)

    def delete(self) -> None:
        """Delete the log, the full files included."""
        for path in self._full_files():
            path.unlink(missing_ok=True)
        with suppress(PermissionError):  # without permission for the folder, there is no log
            self.path.unlink(missing_ok=True)

    def _rotate(self, file: int) -> None:
        with suppress(FileNotFoundError, PermissionError):  # another process has renamed it
            if os.path.samestat(os.stat(self.path), os.fstat(file)):
                self.path.rename(self.path.with_name(f"{self._prefix}{time.time_ns()}.jsonl"))
        for old in self._surplus_files():
            old.unlink(missing_ok=True)

    @property
    def _prefix(self) -> str:
        return f"{self.path.stem}."

    def _full_files(self) -> list[Path]:
        with suppress(OSError):  # without permission for the folder, nothing was written there
            names = self.path.parent.glob(f"{self._prefix}*.jsonl")
            return [path for path in names if path != self.path]
        return []

    def _surplus_files(self) -> Sequence[Path]:
        """Return the oldest full files, those beyond the limit for the total size."""
        newest_first = sorted(self._full_files(), reverse=True)
        total = 0
        for count, path in enumerate(newest_first):
            with suppress(FileNotFoundError):
                total += path.stat().st_size
            if total > 2 * self._max_bytes:  # files exceed the limit by up to one line
                return newest_first[count:]
        return ()
