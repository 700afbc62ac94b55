"""A few at a time, in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Of work that gets slower for all where many are at it.

    Whoever waited for long goes in beside the others: what holds a turn may hang.
    """

    def __init__(self, at_once: int, patience_s: float) -> None:
        self._free = at_once  # below 0 where some lost their patience
        self._patience_s = patience_s
        self._waiting: deque[threading.Lock] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Waits for a turn, and has it until the end."""
        gate = self._gate()
        if gate is not None and not gate.acquire(timeout=self._patience_s):
            self._go_in_anyway(gate)
        try:
            yield
        finally:
            self._pass_on()

    def _gate(self) -> threading.Lock | None:
        """What opens when it is this one's turn; None where it is already."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return None
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
            return gate

    def _go_in_anyway(self, gate: threading.Lock) -> None:
        with self._lock:
            if gate in self._waiting:  # else it was opened this very moment
                self._waiting.remove(gate)
                self._free -= 1

    def _pass_on(self) -> None:
        with self._lock:
            self._free += 1
            if self._free > 0 and self._waiting:
                self._free -= 1
                self._waiting.popleft().release()
