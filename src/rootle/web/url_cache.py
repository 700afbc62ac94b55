"""Texts from the web on disk, by the query or the address that they answer."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from rootle.storage.atomic_json import read_json, write_json

DEFAULT_TTL_S: Final = 86_400.0
# About 5,000 answers of a search, or a few hundred long pages.
MAX_BYTES: Final = 20_000_000

_LOG = logging.getLogger(__name__)


class UrlCache:
    """A folder of texts; safe with many processes and threads.

    Each is a file that is replaced in one step. One that cannot be read is as good as none, and
    one that cannot be written is not kept.
    """

    def __init__(
        self,
        folder: Path,
        ttl_s: float = DEFAULT_TTL_S,
        *,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._clock = clock

    def fetch(self, key: str, make: Callable[[], str]) -> str:
        """The text that is kept for a key, or else what `make` gives, which is kept then.

        What `make` raises comes through, and nothing is kept.
        """
        path = self._folder / f"{blake2b(key.encode(), digest_size=16).hexdigest()}.json"
        kept = read_json(path)
        if kept.get("key") == key and self._is_fresh(kept.get("savedAt")):
            text = kept.get("text")
            if isinstance(text, str):
                return text
        text = make()
        try:
            write_json(path, {"key": key, "savedAt": self._clock(), "text": text})
            self._make_room()
        except OSError as error:
            _LOG.debug("nothing is kept in %s: %s", self._folder, error)
        return text

    def _is_fresh(self, saved_at: object) -> bool:
        return isinstance(saved_at, float) and 0 <= self._clock() - saved_at < self._ttl_s

    def _make_room(self) -> None:
        """Delete the oldest files beyond the limit, those of a killed process among them."""
        with os.scandir(self._folder) as entries:
            sizes = [found for entry in entries if (found := _size_of(entry))]
        total = 0
        for _, size, path in sorted(sizes, reverse=True):
            total += size
            if total > self._max_bytes:
                with suppress(FileNotFoundError):
                    os.unlink(path)


def _size_of(entry: os.DirEntry[str]) -> tuple[int, int, str] | None:
    """When it was written, its bytes and its path; None for one that has gone by now."""
    try:
        status = entry.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_size, entry.path
