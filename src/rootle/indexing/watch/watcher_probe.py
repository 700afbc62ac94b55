"""What a process that asks questions knows of the watcher: may it be relied on?"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from rootle.indexing.watch.watcher_state import WatcherState, WatcherStateFile

# A watcher answers at once. One that has not for so long may hang, whatever it says of itself;
# while it indexes it may take longer.
_SILENCE_S: Final = 5.0
_SILENCE_AT_WORK_S: Final = 60.0


class WatcherProbe:
    """Asks a watcher now and then whether it is still there, without waiting for the answer."""

    def __init__(self, index_dir: Path) -> None:
        self._place = WatcherStateFile(index_dir)
        self._is_watched = False
        self._question: Path | None = None
        self._asked_at = 0.0

    def look(self, *, closely: bool) -> WatcherState | None:
        """The state of a watcher that can be relied on; None where there is none.

        `closely` looks whether it lives and asks it; else what was found then is taken for granted.
        """
        if closely:
            self._is_watched = self._place.is_watched()
        state = self._place.state() if self._is_watched else None
        if state is None or state.error is not None or not state.is_ready or self._is_silent(state):
            self._is_watched = False
            return None
        if closely and self._question is None:
            self._question, self._asked_at = self._place.put_question(), time.monotonic()
        return state

    def is_at_work(self) -> bool:
        """Whether a watcher lives that indexes, ready or not."""
        state = self._place.state()
        is_well = state is not None and state.error is None and not state.is_held
        return is_well and self._place.is_watched()

    def ask(self, timeout_s: float) -> WatcherState | None:
        """Its state after it has heard of all that happened before now; None without an answer."""
        return self._place.state() if self._place.ask(timeout_s) else None

    def close(self) -> None:
        if self._question is not None:
            self._question.unlink(missing_ok=True)
            self._question = None

    def _is_silent(self, state: WatcherState) -> bool:
        if self._question is not None and not os.path.exists(self._question):
            self._question = None
        if self._question is None:
            return False
        timeout_s = _SILENCE_AT_WORK_S if state.waiting else _SILENCE_S
        return time.monotonic() - self._asked_at > timeout_s
