"""How long to wait before something that failed is tried again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Rng = Callable[[], float]  # the next number from 0 to 1, as `random.random` gives it


@dataclass(frozen=True, slots=True)
class Backoff:
    """Twice as long after each failure, up to a limit, and never quite the same."""

    first_s: float
    longest_s: float

    def pause_s(self, failures: int, rng: Rng) -> float:
        """The pause after so many failures, from half of it to all of it.

        Clients that failed together must not come back together (Brooker, "Exponential backoff and
        jitter", 2015: "equal jitter").
        """
        # Far beyond what any limit allows, 2.0 ** 1024 would overflow.
        whole = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 64))
        return whole * (0.5 + rng() / 2)
