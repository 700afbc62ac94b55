"""An index that somebody else wrote, fed and asked as a search server is."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from rootle.errors import PluginError
from rootle.index.remote.http_backend import LOOK_TIMEOUT_S, WRITE_TIMEOUT_S
from rootle.index.remote.protocol import Leg, RemoteChunk, Stamp, merged
from rootle.plugins.registry import (
    Found,
    IndexPlace,
    call_plugin,
    call_with_timeout,
    make_component,
)
from rootle.protocols import Ranked, Vector, WeightedTerm

# Raise it whenever what is put means something else: an index with another one is filled anew.
_FORMAT: Final = 1

_Result = TypeVar("_Result")


class PluginIndexes:
    """Opens the indexes of one plugin, each once."""

    def __init__(self, found: Found, leg: Leg, endpoint: str, key: Callable[[], str]) -> None:
        self._found = found
        self._leg = leg
        self._endpoint = endpoint
        self._key = key
        self._opened: dict[str, PluginIndex] = {}
        self._lock = threading.Lock()

    def open(self, name: str) -> PluginIndex:
        """The index of a name. Raises PluginError where there is none to be had."""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = PluginIndex(self._found, self._make(name))
            return self._opened[name]

    def _make(self, name: str) -> Any:  # Any: what `docs/how-to/plugins.md` says of an index
        place = IndexPlace(name, self._leg, self._endpoint, self._key)
        return call_with_timeout(
            self._found, lambda: make_component(self._found)(place), LOOK_TIMEOUT_S
        )


class PluginIndex:
    """A RemoteDense and a RemoteSparse. Whatever the plugin raises is a PluginError."""

    def __init__(self, found: Found, index: Any) -> None:  # Any: see `PluginIndexes`
        self._found = found
        self._index = index

    def held(self, dimensions: int) -> Stamp | None:  # noqa: ARG002 - a name has one model alone
        return self._stamp_of(self._look(lambda: self._index.note()))

    def create(self, dimensions: int) -> None:
        self._write(lambda: self._index.create(dimensions))

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        self._write(lambda: self._index.put(list(chunks)))

    def prune(self, live: Mapping[int, Sequence[int]]) -> None:
        self._write(lambda: self._index.prune({file: list(own) for file, own in live.items()}))

    def settle(self, stamp: Stamp) -> None:
        note = f"{_FORMAT} {stamp.generation} {'whole' if stamp.is_whole else 'partial'}"
        self._write(lambda: self._index.settle(note))

    def count(self) -> int:
        return self._look(lambda: int(self._index.count()))

    def holds(self, chunk_id: int) -> bool:
        return self._look(lambda: bool(self._index.holds(chunk_id)))

    def drop(self) -> None:
        self._write(lambda: self._index.drop())

    def query(
        self,
        asked: Vector | Sequence[WeightedTerm],
        k: int,
        files: Collection[int] | None,
        timeout_s: float,  # noqa: ARG002 - whoever asks waits no longer, and leaves it to itself
    ) -> tuple[Stamp | None, Ranked]:
        """At most k chunks, best first, and the stamp right before."""
        # Its own thread is the leg's: one more would only cost time.
        stamp = self._stamp_of(call_plugin(self._found, lambda: self._index.note()))
        wanted = None if files is None else set(files)
        pairs = call_plugin(
            self._found,
            lambda: [(int(at), float(score)) for at, score in self._index.query(asked, k, wanted)],
        )
        if not all(math.isfinite(score) for _, score in pairs):
            raise PluginError(f"the index {self._found.plugin.name} gave a score that is no number")
        return stamp, merged([([at for at, _ in pairs], [score for _, score in pairs])], k)

    def _stamp_of(self, note: object) -> Stamp | None:
        words = note.split() if isinstance(note, str) else []
        if len(words) != 3 or words[0] != str(_FORMAT) or not words[1].lstrip("-").isdigit():
            return None
        return Stamp(int(words[1]), words[2] == "whole")

    def _look(self, call: Callable[[], _Result]) -> _Result:
        return call_with_timeout(self._found, call, LOOK_TIMEOUT_S)

    def _write(self, call: Callable[[], object]) -> None:
        call_with_timeout(self._found, call, WRITE_TIMEOUT_S)
