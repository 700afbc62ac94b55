"""Indexes that plugins provide. They are replicas, like those on search servers."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from rootle.errors import PluginError
from rootle.index.remote.http_backend import READ_TIMEOUT_S, WRITE_TIMEOUT_S
from rootle.index.remote.protocol import Leg, RemoteChunk, Stamp, merge_hits
from rootle.plugins.registry import (
    FoundPlugin,
    IndexPlace,
    call_plugin,
    call_with_timeout,
    make_component,
)
from rootle.protocols import RankedIds, Vector, WeightedTerm

# Increase this if the meaning of the stored chunks changes: older replicas are then filled again.
_FORMAT: Final = 1

_Result = TypeVar("_Result")


class PluginIndexes:
    """The indexes of one plugin, each opened once."""

    def __init__(self, found: FoundPlugin, leg: Leg, endpoint: str, key: Callable[[], str]) -> None:
        self._found = found
        self._leg = leg
        self._endpoint = endpoint
        self._key = key
        self._opened: dict[str, PluginIndex] = {}
        self._lock = threading.Lock()

    def open(self, name: str) -> PluginIndex:
        """Return the index with this name. Raises PluginError if the plugin cannot open it."""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = PluginIndex(self._found, self._make(name))
            return self._opened[name]

    def _make(self, name: str) -> Any:  # Any: an index as in `docs/how-to/plugins.md`
        place = IndexPlace(name, self._leg, self._endpoint, self._key)
        return call_with_timeout(
            self._found, lambda: make_component(self._found)(place), READ_TIMEOUT_S
        )


class PluginIndex:
    """An index of a plugin as a RemoteDense or RemoteSparse. Exceptions become PluginErrors."""

    def __init__(self, found: FoundPlugin, index: Any) -> None:  # Any: see `PluginIndexes`
        self._found = found
        self._index = index

    def read_stamp(self, dimensions: int) -> Stamp | None:  # noqa: ARG002 - each model has a separate index
        return self._parse_stamp(self._read(lambda: self._index.read_stamp()))

    def create(self, dimensions: int) -> None:
        self._write(lambda: self._index.create(dimensions))

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        self._write(lambda: self._index.put(list(chunks)))

    def delete_stale(self, live: Mapping[int, Sequence[int]]) -> None:
        self._write(
            lambda: self._index.delete_stale({file: list(chunks) for file, chunks in live.items()})
        )

    def commit(self, stamp: Stamp) -> None:
        text = f"{_FORMAT} {stamp.generation} {'complete' if stamp.is_complete else 'partial'}"
        self._write(lambda: self._index.commit(text))

    def count(self) -> int:
        return self._read(lambda: int(self._index.count()))

    def contains(self, chunk_id: int) -> bool:
        return self._read(lambda: bool(self._index.contains(chunk_id)))

    def drop(self) -> None:
        self._write(lambda: self._index.drop())

    def query(
        self,
        query: Vector | Sequence[WeightedTerm],
        k: int,
        files: Collection[int] | None,
        timeout_s: float,  # noqa: ARG002 - the caller enforces it
    ) -> tuple[Stamp | None, RankedIds]:
        """Return the stamp, read before the query, and at most k chunks, best first."""
        # No timeout is needed here, because the leg already runs in a thread with a timeout.
        stamp = self._parse_stamp(call_plugin(self._found, lambda: self._index.read_stamp()))
        allowed = None if files is None else set(files)
        pairs = call_plugin(
            self._found,
            lambda: [(int(at), float(score)) for at, score in self._index.query(query, k, allowed)],
        )
        if not all(math.isfinite(score) for _, score in pairs):
            raise PluginError(
                f"the index {self._found.plugin.name} returned a score that is not finite"
            )
        return stamp, merge_hits([([at for at, _ in pairs], [score for _, score in pairs])], k)

    def _parse_stamp(self, text: object) -> Stamp | None:
        words = text.split() if isinstance(text, str) else []
        if len(words) != 3 or words[0] != str(_FORMAT) or not words[1].lstrip("-").isdigit():
            return None
        return Stamp(int(words[1]), words[2] == "complete")

    def _read(self, call: Callable[[], _Result]) -> _Result:
        return call_with_timeout(self._found, call, READ_TIMEOUT_S)

    def _write(self, call: Callable[[], object]) -> None:
        call_with_timeout(self._found, call, WRITE_TIMEOUT_S)
