"""Pages of answers on disk, for the next process that is asked the same."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from rootle.index.local.snapshot import Snapshot
from rootle.protocols import Ids
from rootle.storage.atomic_json import read_json, write_json
from rootle.types import FileMetadata, SearchResult, Span


@dataclass(frozen=True, slots=True)
class ResultPage:
    """One page of an answer, with what the next page's cursor and its checks need."""

    results: tuple[SearchResult, ...]
    files: Ids  # of the whole answer, best first
    degraded: tuple[str, ...]
    said: tuple[str, ...]  # remarks and suggestions
    confident: bool | None
    as_of_s: float
    until_s: float  # when a file grows too old for it


class DiskCache:
    """A folder of them for one index; safe with many processes and threads.

    Each page is a file that is replaced in one step. One that cannot be read is as good as none,
    and one that cannot be written is not kept.
    """

    def __init__(
        self,
        folder: Path,
        max_entries: int,
        ttl_s: float,
        settings: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`settings` is everything beside the index that an answer depends on."""
        self._folder = folder
        self._max_entries = max_entries
        self._ttl_s = ttl_s
        self._settings = settings
        self._clock = clock

    def state_of(self, snapshot: Snapshot) -> str:
        """Changes with the index: answers of another state are never given, and go first."""
        parts = [str(snapshot.generation), self._settings]
        parts += [snapshot.value(name) for name in ("fingerprint", "updated_at", "head")]
        return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()

    def get(self, state: str, digest: bytes, offset: int, limit: int) -> ResultPage | None:
        path = self._path(state, digest, offset, limit)
        data = read_json(path)
        if not data:
            return None
        try:
            if not 0 <= self._clock() - data["cachedAt"] < self._ttl_s:
                return None
            return _shown(data)
        except (ValueError, KeyError, TypeError, AttributeError):
            with suppress(OSError):
                path.unlink()  # of another version
            return None

    def put(self, state: str, digest: bytes, offset: int, limit: int, shown: ResultPage) -> None:
        data = asdict(shown) | {"files": shown.files.tolist(), "cachedAt": self._clock()}
        if math.isinf(shown.until_s):
            data["until_s"] = None
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room(state)
            write_json(self._path(state, digest, offset, limit), data)

    def _path(self, state: str, digest: bytes, offset: int, limit: int) -> Path:
        return self._folder / f"{state}-{digest.hex()}-{offset}-{limit}.json"

    def _make_room(self, state: str) -> None:
        """Delete what is of another state, then the oldest."""
        with os.scandir(self._folder) as entries:
            found = list(entries)
        own = [entry for entry in found if entry.name.startswith(f"{state}-")]
        surplus = [entry for entry in found if not entry.name.startswith(f"{state}-")]
        if len(own) >= self._max_entries:
            own.sort(key=_age_of)
            surplus += own[: len(own) - self._max_entries + 1]
        for entry in surplus:
            with suppress(FileNotFoundError):
                os.unlink(entry.path)


def _age_of(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except FileNotFoundError:  # another process was quicker
        return 0


def _shown(data: dict[str, Any]) -> ResultPage:  # Any: what stood in the file
    until_s = data["until_s"]
    return ResultPage(
        tuple(map(_result, data["results"])),
        np.array(data["files"], dtype=np.int64),
        tuple(data["degraded"]),
        tuple(data["said"]),
        data["confident"],
        float(data["as_of_s"]),
        math.inf if until_s is None else float(until_s),
    )


def _result(data: dict[str, Any]) -> SearchResult:
    return SearchResult(
        **{
            **data,
            "metadata": FileMetadata(**data["metadata"]),
            "more_spans": tuple(Span(**span) for span in data["more_spans"]),
            "duplicates": tuple(data["duplicates"]),
        }
    )
