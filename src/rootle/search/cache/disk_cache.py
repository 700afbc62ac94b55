"""Pipeline stage: keep pages of answers on disk, so that the next process need not search again."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from rootle.search.request import SearchRequest
from rootle.search.results.page import FindPage, ResultPage
from rootle.storage.atomic_json import read_json, write_json
from rootle.storage.permissions import make_private_dir
from rootle.text.secret_masking import mask_secrets
from rootle.types import FileMetadata, SearchResult, Span


class DiskCache:
    """A folder of pages for one index. Safe to use from many processes and threads.

    Each page is a file that is replaced atomically. An unreadable page is ignored, and a page that
    cannot be written is not cached.
    """

    def __init__(
        self,
        folder: Path,
        max_entries: int,
        ttl_s: float,
        settings: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Pages are valid only for the given `settings`, the configuration as a text."""
        self._folder = folder
        self._max_entries = max_entries
        self._ttl_s = ttl_s
        self._settings = settings
        self._clock = clock

    def __call__(self, find: FindPage, request: SearchRequest) -> ResultPage:
        """Return the page from the cache, or search for it.

        Pages with an explanation are not cached.
        """
        if request.explain:
            return find(request)
        state = self._digest_state(request)
        path = self._folder / _file_name(state, request)
        page = self._read(path)
        if page is not None and page.as_of_s <= request.now_s < page.valid_until_s:
            request.trace.record_cache_hit()
            return page
        page = find(request)
        is_complete = not page.degraded and page.symbols is None
        if is_complete and not mask_secrets(request.query.text_query).count:
            self._write(path, page, state)
        return page

    def _digest_state(self, request: SearchRequest) -> str:
        """Return a digest of the index state and the settings. File names begin with the digest."""
        text = f"{request.session.state_id}\0{self._settings}"
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def _read(self, path: Path) -> ResultPage | None:
        data = read_json(path)
        if not data:
            return None
        try:
            if not 0 <= self._clock() - data["cachedAt"] < self._ttl_s:
                return None
            return _page_from_json(data)
        except (ValueError, KeyError, TypeError, AttributeError):
            with suppress(OSError):
                path.unlink()  # written by another version of rootle
            return None

    def _write(self, path: Path, page: ResultPage, state: str) -> None:
        data = {
            "cachedAt": self._clock(),
            "results": [asdict(result) for result in page.results],
            "fileIds": page.file_ids.tolist(),
            "notes": page.notes,
            "confident": page.confident,
            "expansion": page.expansion,
            "asOf": page.as_of_s,
            "validUntil": None if math.isinf(page.valid_until_s) else page.valid_until_s,
        }
        with suppress(OSError):
            make_private_dir(self._folder)
            self._make_room(state)
            write_json(path, data)

    def _make_room(self, state: str) -> None:
        """Delete the pages of other states. If this state has too many pages, delete the oldest."""
        with os.scandir(self._folder) as entries:
            found = list(entries)
        own = [entry for entry in found if entry.name.startswith(f"{state}-")]
        surplus = [entry for entry in found if not entry.name.startswith(f"{state}-")]
        if len(own) >= self._max_entries:
            own.sort(key=_modified_ns)
            surplus += own[: len(own) - self._max_entries + 1]
        for entry in surplus:
            with suppress(FileNotFoundError):
                os.unlink(entry.path)


def _file_name(state: str, request: SearchRequest) -> str:
    return f"{state}-{request.digest.hex()}-{request.offset}-{request.limit}.json"


def _modified_ns(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except FileNotFoundError:  # deleted by another process
        return 0


def _page_from_json(data: dict[str, Any]) -> ResultPage:  # Any: decoded JSON
    valid_until_s = data["validUntil"]
    return ResultPage(
        tuple(map(_result_from_json, data["results"])),
        np.array(data["fileIds"], dtype=np.int64),
        (),
        tuple(data["notes"]),
        data["confident"],
        float(data["asOf"]),
        math.inf if valid_until_s is None else float(valid_until_s),
        expansion=str(data["expansion"]),
    )


def _result_from_json(data: dict[str, Any]) -> SearchResult:
    lines = data["matching_lines"]
    return SearchResult(
        **{
            **data,
            "metadata": FileMetadata(**data["metadata"]),
            "more_spans": tuple(Span(**span) for span in data["more_spans"]),
            "duplicates": tuple(data["duplicates"]),
            "translations": tuple(data["translations"]),
            "matching_lines": None if lines is None else tuple(lines),
        }
    )
