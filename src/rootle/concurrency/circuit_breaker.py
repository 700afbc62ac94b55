"""A circuit breaker that stops calls to a dependency after repeated failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Literal

from rootle.concurrency.backoff import Backoff

# The number of consecutive failures that open a breaker. A single slow response is not an outage,
# but a user should wait for at most three deadlines.
_FAILURES_TO_OPEN: Final = 3
_COOLDOWN: Final = Backoff(first_s=1.0, longest_s=60.0)

# closed: every call may proceed. half-open: this caller may try once. open: no call may proceed.
BreakerState = Literal["closed", "half-open", "open"]


class CircuitBreaker:
    """Decides whether to call a dependency that may be down. Thread-safe.

    The breaker opens after consecutive failures. After a cooldown it admits a single trial call; if
    the trial fails or never returns, the next cooldown is twice as long.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        failures_to_open: int = _FAILURES_TO_OPEN,
        cooldown: Backoff = _COOLDOWN,
    ) -> None:
        self._clock = clock
        self._failures_to_open = failures_to_open
        self._cooldown = cooldown
        self._failures = 0
        self._trials = 0
        self._open_until = 0.0
        self._lock = threading.Lock()

    def state(self) -> BreakerState:
        """Return the state for this call; only one caller per cooldown receives "half-open"."""
        if self._failures < self._failures_to_open:
            return "closed"
        with self._lock:
            now = self._clock()
            if self._failures < self._failures_to_open:
                return "closed"
            if now < self._open_until:
                return "open"
            # Schedule the next trial now, in case this one hangs.
            self._trials += 1
            self._open_until = now + self._cooldown.full_delay_s(1 + self._trials)
            return "half-open"

    def record_success(self) -> None:
        """Close the breaker."""
        if self._failures:
            with self._lock:
                self._failures = self._trials = 0

    def record_failure(self) -> bool:
        """Count a failure; return True if it opened the breaker."""
        with self._lock:
            self._failures += 1
            is_opening = self._failures == self._failures_to_open
            if is_opening:
                self._open_until = self._clock() + self._cooldown.full_delay_s(1 + self._trials)
            return is_opening
