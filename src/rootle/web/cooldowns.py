"""Who is left alone for how long, after having said that it was too much."""

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
# Longer than that nobody is believed; and after as long in peace the first pause is the next one.
_LONGEST_S: Final = 86_400.0


class Cooldowns:
    """Pauses by label, in a folder that all processes share."""

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
        """Raise Unavailable while it rests."""
        until, _ = self._state(label)
        left_s = until - self._clock()
        if left_s > 0:
            raise Unavailable(f"rests for {left_s:.0f} s more after a rate limit")

    def begin(self, label: str, wish_s: float) -> None:
        """Let it rest, longer than the last time, and as long as it wishes itself."""
        now = self._clock()
        until, count = self._state(label)
        count = count + 1 if now - until < _LONGEST_S else 1
        pause_s = max(_BACKOFF.delay_s(count, self._rng), min(wish_s, _LONGEST_S))
        try:
            write_json(self._path(label), {"until": now + pause_s, "count": count})
        except OSError as error:
            _LOG.debug("nothing is kept in %s: %s", self._folder, error)

    def end(self, label: str) -> None:
        """It has answered."""
        with suppress(OSError):
            self._path(label).unlink(missing_ok=True)

    def _state(self, label: str) -> tuple[float, int]:
        """Until when it rests, and how often it was limited in a row."""
        data = read_json(self._path(label))
        until, count = data.get("until"), data.get("count")
        if not isinstance(until, float) or not isinstance(count, int):
            return 0.0, 0
        # A clock that was set back must not keep anybody away for years.
        return (until, count) if until <= self._clock() + _LONGEST_S else (0.0, 0)

    def _path(self, label: str) -> Path:
        return self._folder / f"{label}.json"
