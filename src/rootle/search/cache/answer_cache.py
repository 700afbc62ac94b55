"""Answers that were given lately: LRU with a time to live."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class AnswerCache(Generic[_T]):
    """Keeps a bounded number of answers for a bounded time. Safe to use from many threads."""

    def __init__(
        self, max_entries: int, ttl_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_entries = max_entries
        self._ttl_s = ttl_s
        self._clock = clock
        self._entries: OrderedDict[bytes, tuple[float, _T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> _T | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if self._clock() - entry[0] >= self._ttl_s:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return entry[1]

    def put(self, key: bytes, answer: _T) -> None:
        with self._lock:
            self._entries[key] = (self._clock(), answer)
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
