"""A circuit breaker: what failed again and again is left alone for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Literal

# One slow answer is no outage, and whoever waits for three deadlines has waited long enough.
_FAILURES: Final = 3
_REST_S: Final = 1.0
_LONGEST_REST_S: Final = 60.0

Admission = Literal["open to all", "one trial", "none"]


class CircuitBreaker:
    """Says whether a part that may be down is worth asking. Safe to use from many threads.

    After some failures in a row nobody is let through for a rest; then one caller may try. Where
    that fails, or never comes back, the next rest is twice as long.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        failures: int = _FAILURES,
        rest_s: float = _REST_S,
    ) -> None:
        self._clock = clock
        self._limit = failures
        self._first_rest_s = self._rest_s = rest_s
        self._failures = 0
        self._rests_until = 0.0
        self._lock = threading.Lock()

    def admission(self) -> Admission:
        """Who may ask now; for "one trial" that is the caller who was told so."""
        if self._failures < self._limit:
            return "open to all"
        with self._lock:
            now = self._clock()
            if self._failures < self._limit or now < self._rests_until:
                return "none" if self._failures >= self._limit else "open to all"
            # As if the trial had failed: so a trial that hangs needs nobody who notices it.
            self._rest_s = min(2 * self._rest_s, _LONGEST_REST_S)
            self._rests_until = now + self._rest_s
            return "one trial"

    def succeeded(self) -> None:
        if self._failures:
            with self._lock:
                self._failures = 0
                self._rest_s = self._first_rest_s

    def failed(self) -> bool:
        """Note a failure; True where it is the one after which nobody asks."""
        with self._lock:
            self._failures += 1
            if self._failures == self._limit:
                self._rests_until = self._clock() + self._rest_s
            return self._failures == self._limit
