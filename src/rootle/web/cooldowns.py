"""Provider cooldowns after a rate limit or a network failure, shared by all processes."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from rootle.concurrency.backoff import Backoff, Rng
from rootle.errors import Unavailable
from rootle.storage.atomic_json import read_json, write_json

_LOG = logging.getLogger(__name__)

_BACKOFF: Final = Backoff(first_s=30.0, longest_s=3_600.0)
# The longest accepted Retry-After. It is also the time without a failure after which the backoff is
# reset.
_MAX_S: Final = 86_400.0


class Cooldowns:
    """Cooldowns in a folder with one JSON file per provider."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.time,
        rng: Rng = random.random,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._rng = rng

    def check(self, label: str) -> None:
        """Raise Unavailable during the cooldown of a provider."""
        until, _ = self._read(label)
        remaining_s = until - self._clock()
        if remaining_s > 0:
            raise Unavailable(f"failed before, on cooldown for {remaining_s:.0f} s")

    def start(self, label: str, retry_after_s: float, *, longest_s: float = _MAX_S) -> None:
        """Start a cooldown of at least `retry_after_s` and at most `longest_s`.

        The cooldown increases with each consecutive failure.
        """
        now = self._clock()
        until, count = self._read(label)
        count = count + 1 if now - until < _MAX_S else 1
        cooldown_s = max(_BACKOFF.delay_s(count, self._rng), min(retry_after_s, _MAX_S))
        cooldown_s = min(cooldown_s, longest_s)
        try:
            write_json(self._path(label), {"until": now + cooldown_s, "count": count})
        except OSError as error:
            _LOG.debug("cannot write to %s: %s", self._folder, error)

    def clear(self, label: str) -> None:
        """Reset the backoff of a provider after a successful request."""
        with suppress(OSError):
            self._path(label).unlink(missing_ok=True)

    def _read(self, label: str) -> tuple[float, int]:
        """Return the end of the cooldown and the number of consecutive failures."""
        data = read_json(self._path(label))
        until, count = data.get("until"), data.get("count")
        if not isinstance(until, float) or not isinstance(count, int):
            return 0.0, 0
        # A cooldown that ends more than _MAX_S from now is invalid: the clock was set back after
        # its end was written.
        return (until, count) if until <= self._clock() + _MAX_S else (0.0, 0)

    def _path(self, label: str) -> Path:
        return self._folder / f"{label}.json"
