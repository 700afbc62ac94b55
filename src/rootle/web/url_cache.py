"""On-disk cache of texts from the web, with the query or URL as the key."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError
from rootle.storage.atomic_json import read_json, write_json
from rootle.storage.paths import shared_cache_dir

DEFAULT_TTL_S: Final = 86_400.0
# The maximum size of the cache. About 5,000 pages of search results, or a few hundred long web
# pages, fit into it.
MAX_BYTES: Final = 20_000_000

SEARCHES: Final = "web_search"
PAGES: Final = "web_read"
COOLDOWNS: Final = "web_cooldowns"

# the time after which no process is still writing a partial file
_PARTIAL_FILE_NS: Final = 3_600 * 10**9

_LOG = logging.getLogger(__name__)


def clear_web_cache() -> None:
    """Delete the cached results and pages, and the cooldowns.

    Files that other processes write at the same time may remain. Raise IndexStorageError if a file
    cannot be deleted.
    """
    for name in (SEARCHES, PAGES, COOLDOWNS):
        folder = shared_cache_dir(name)
        try:
            # `Path.is_dir` is not used, because it raises an error if a parent folder is not
            # accessible.
            for entry in os.scandir(folder) if os.path.isdir(folder) else ():
                with suppress(FileNotFoundError):
                    os.unlink(entry)
        except OSError as error:
            reason = error.strerror or str(error)
            raise IndexStorageError(
                f"cannot delete the cached web pages in {folder}: {reason}; delete this folder"
            ) from error
        with suppress(OSError):  # the folder is missing, is a symbolic link or is not empty
            folder.rmdir()


class UrlCache:
    """A cache folder with one JSON file per key. Safe for several processes and threads.

    Files are replaced atomically. Unreadable files count as missing; failed writes are ignored.
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
        """Return the cached text for a key, or call `make` and cache its result.

        If `make` raises an exception, nothing is cached.
        """
        path = self._folder / f"{blake2b(key.encode(), digest_size=16).hexdigest()}.json"
        cached = read_json(path)
        if cached.get("key") == key and self._is_fresh(cached.get("savedAt")):
            text = cached.get("text")
            if isinstance(text, str):
                return text
        text = make()
        try:
            write_json(path, {"key": key, "savedAt": self._clock(), "text": text})
            # Set the modification time of the file to the time when it expires. `_evict` can then
            # sort the files without reading them, although other projects may use other lifetimes.
            expires_s = time.time() + self._ttl_s
            os.utime(path, (expires_s, expires_s))
            self._evict()
        except OSError as error:
            _LOG.debug("cannot write to %s: %s", self._folder, error)
        return text

    def _is_fresh(self, saved_at: object) -> bool:
        return isinstance(saved_at, float) and 0 <= self._clock() - saved_at < self._ttl_s

    def _evict(self) -> None:
        """Delete expired files and, if the size limit is exceeded, those that expire first.

        Partial files that were left behind are deleted an hour after their last write.
        """
        with os.scandir(self._folder) as entries:
            files = [found for entry in entries if (found := _stat(entry))]
        total = 0
        now_ns = time.time_ns()
        for expires_ns, size, path in sorted(files, reverse=True):
            total += size
            grace_ns = 0 if path.endswith(".json") else _PARTIAL_FILE_NS
            if total > self._max_bytes or expires_ns + grace_ns < now_ns:
                with suppress(FileNotFoundError):
                    os.unlink(path)


def _stat(entry: os.DirEntry[str]) -> tuple[int, int, str] | None:
    """Return the time in nanoseconds, size and path of a file; None if it was deleted."""
    try:
        status = entry.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_size, entry.path
