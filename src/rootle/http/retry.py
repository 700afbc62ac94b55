"""Rules for repeating a request: after which failures, how often, and after which delay."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from rootle.concurrency.backoff import Backoff, Rng
from rootle.errors import RefusedError, UnavailableError

ATTEMPTS: Final = 4
_BACKOFF: Final = Backoff(first_s=0.25, longest_s=8.0)
# Status codes below 500 after which a retry may succeed.
_RETRYABLE: Final = frozenset({408, 425, 429})

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class RetryRules:
    """The number of attempts, and the clock, sleep and random functions that retries use."""

    attempts: int = ATTEMPTS
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    rng: Rng = random.random

    def run(self, send: Callable[[], _Result], deadline: float) -> _Result:
        """Call `send` until it succeeds, and return its result.

        Raise the error of `send` without another attempt in these cases: it is not an
        UnavailableError, it is a RefusedError, it came from the last attempt, or the next delay
        would reach the deadline.
        """
        failures = 0
        while True:
            try:
                return send()
            except RefusedError:
                raise
            except UnavailableError as error:
                failures += 1
                delay_s = max(error.retry_after_s, _BACKOFF.delay_s(failures, self.rng))
                if failures >= self.attempts or self.clock() + delay_s >= deadline:
                    raise
            self.sleep(delay_s)


def is_retryable(status: int) -> bool:
    """Return whether a request that was answered with this HTTP status may succeed later."""
    return status >= 500 or status in _RETRYABLE


def parse_retry_after(value: str) -> float:
    """Return the delay in seconds that a Retry-After header requests; 0 if it is invalid.

    The header contains a number of seconds or a date (RFC 9110, 10.2.3).
    """
    with suppress(ValueError, TypeError, OverflowError):
        if value.strip().isdigit():
            return float(value)
        date = parsedate_to_datetime(value)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    return 0.0
