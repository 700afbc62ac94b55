"""Exponential backoff with jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Rng = Callable[[], float]  # returns a number from 0 to 1, as `random.random` does


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that double after each consecutive failure, up to a limit."""

    first_s: float
    longest_s: float

    def delay_s(self, failures: int, rng: Rng) -> float:
        """Return a random delay between half of the full delay and the full delay.

        The jitter keeps clients that failed together from retrying together (Brooker, "Exponential
        backoff and jitter", 2015: "equal jitter").
        """
        return self.full_delay_s(failures) * (0.5 + rng() / 2)

    def full_delay_s(self, failures: int) -> float:
        """Return the delay after a number of failures, without jitter."""
        # The exponent is bounded because 2.0 ** 1024 overflows.
        return min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 64))
