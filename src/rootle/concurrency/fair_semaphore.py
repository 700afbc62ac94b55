"""A FIFO semaphore that tolerates holders that hang."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# If no permit has been acquired or released for this long, the holders are slow or hang.
_STALL_TIMEOUT_S: Final = 0.2
# The longest interval between checks for a stall, in stall timeouts. Waiters far back in the queue
# check less often, because a hundred threads that wake up five times a second would use 5% of a
# core.
_MAX_STALL_TIMEOUTS: Final = 5


class FairSemaphore:
    """Limits how many threads run a block at once. Waiting threads are admitted in FIFO order.

    If no permit is acquired or released for `stall_timeout_s`, an extra permit is issued, so that a
    holder that hangs delays the others only once. The extra permit is withdrawn when a slow holder
    releases its own permit.
    """

    def __init__(self, permits: int, stall_timeout_s: float = _STALL_TIMEOUT_S) -> None:
        self._free = permits
        self._extra = 0
        self._stall_timeout_s = stall_timeout_s
        self._waiting: deque[threading.Lock] = deque()
        self._moved_at = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Wait for a permit and hold it during the block."""
        gate, position = self._enqueue()
        timeouts = min(1 + position, _MAX_STALL_TIMEOUTS)
        while gate is not None and not gate.acquire(timeout=timeouts * self._stall_timeout_s):
            self._issue_extra_if_stalled()
            timeouts = 1
        started = time.monotonic()
        try:
            yield
        finally:
            self._release(was_slow=time.monotonic() - started > self._stall_timeout_s)

    def _enqueue(self) -> tuple[threading.Lock | None, int]:
        """Take a permit or join the queue.

        Return a lock and the position in the queue. The lock is released when it is this thread's
        turn, and is None if the thread has already received a permit.
        """
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._moved_at = time.monotonic()
                return None, 0
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
            return gate, len(self._waiting) - 1

    def _issue_extra_if_stalled(self) -> None:
        with self._lock:
            if self._waiting and time.monotonic() - self._moved_at >= self._stall_timeout_s:
                self._extra += 1
                self._admit_next()

    def _release(self, *, was_slow: bool) -> None:
        with self._lock:
            if was_slow and self._extra:
                self._extra -= 1  # the extra permit replaces this one
            elif self._waiting:
                self._admit_next()
            else:
                self._free += 1

    def _admit_next(self) -> None:
        self._moved_at = time.monotonic()
        self._waiting.popleft().release()
