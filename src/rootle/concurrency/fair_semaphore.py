"""A few at a time, in the order in which they came."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# Where nobody came or went for so long, whoever has a turn is slow or hangs.
_PATIENCE_S: Final = 0.2
# Those far behind need not look so often: a hundred that wake five times a second cost a twentieth.
_MAX_PATIENCES: Final = 5


class FairSemaphore:
    """For work that gets slower for all where many are at it.

    One that takes long costs the others no more than some patience: another turn is lent for it.
    """

    def __init__(self, at_once: int, timeout_s: float = _PATIENCE_S) -> None:
        self._free = at_once
        self._lent = 0
        self._timeout_s = timeout_s
        self._waiting: deque[threading.Lock] = deque()
        self._moved_at = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Waits for a turn, and has it until the end."""
        gate, ahead = self._gate()
        patiences = min(1 + ahead, _MAX_PATIENCES)
        while gate is not None and not gate.acquire(timeout=patiences * self._timeout_s):
            self._lend_one_if_nothing_moves()
            patiences = 1
        started = time.monotonic()
        try:
            yield
        finally:
            self._pass_on(was_long=time.monotonic() - started > self._timeout_s)

    def _gate(self) -> tuple[threading.Lock | None, int]:
        """What opens when it is this one's turn, None where it is already; how many come before."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._moved_at = time.monotonic()
                return None, 0
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
            return gate, len(self._waiting) - 1

    def _lend_one_if_nothing_moves(self) -> None:
        with self._lock:
            if self._waiting and time.monotonic() - self._moved_at >= self._timeout_s:
                self._lent += 1
                self._let_in()

    def _pass_on(self, *, was_long: bool) -> None:
        with self._lock:
            if was_long and self._lent:
                self._lent -= 1  # somebody else has this turn since
            elif self._waiting:
                self._let_in()
            else:
                self._free += 1

    def _let_in(self) -> None:
        self._moved_at = time.monotonic()
        self._waiting.popleft().release()
