"""Check the watcher from a process that searches."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.indexing.watch.watcher_state import WatcherState

# An idle watcher completes a probe at once, a busy one after its batch. If a probe remains for
# longer than these timeouts, the watcher hangs, even if its state file says that it works.
_IDLE_TIMEOUT_S: Final = 5.0
_BUSY_TIMEOUT_S: Final = 60.0


class WatcherProbe:
    """Checks, without blocking, whether a watcher is running and responsive.

    It posts a probe, and looks at a later check whether the watcher has deleted the probe.
    """

    def __init__(self, index_dir: Path) -> None:
        self._channel = WatcherChannel(index_dir)
        self._is_watched = False
        self._probe: Path | None = None
        self._posted_at = 0.0

    def check(self, *, thoroughly: bool) -> WatcherState | None:
        """Return the state of a watcher that is ready and responds; None if there is none.

        A thorough check tests the lock and posts a probe. Other checks use the result of the last
        thorough check.
        """
        if thoroughly:
            self._is_watched = self._channel.is_watched()
        state = self._channel.read_state() if self._is_watched else None
        is_reliable = state is not None and state.error is None and state.is_ready
        if state is None or not is_reliable or self._is_overdue(state):
            self._is_watched = False
            return None
        if thoroughly and self._probe is None:
            self._probe, self._posted_at = self._channel.post_probe(), time.monotonic()
        return state

    def is_indexing(self) -> bool:
        """Return whether a running watcher is creating the index.

        The result is False if a watcher is ready. If there is no index in this case, it was
        deleted, and the watcher does not create it again.
        """
        state = self._channel.read_state()
        if state is None or state.error is not None or state.is_throttled or state.is_ready:
            return False
        return self._channel.is_watched()

    def sync(self, timeout_s: float) -> WatcherState | None:
        """Return the state after all earlier changes were indexed; None on timeout."""
        return self._channel.read_state() if self._channel.sync(timeout_s) else None

    def close(self) -> None:
        if self._probe is not None:
            self._probe.unlink(missing_ok=True)
            self._probe = None

    def _is_overdue(self, state: WatcherState) -> bool:
        if self._probe is not None and not os.path.exists(self._probe):
            self._probe = None
        if self._probe is None:
            return False
        timeout_s = _BUSY_TIMEOUT_S if state.waiting else _IDLE_TIMEOUT_S
        return time.monotonic() - self._posted_at > timeout_s
