"""Publish a watcher's state to other processes, to telemetry and to the user."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.indexing.watch.watcher_state import WatcherCommand, WatcherState
from rootle.telemetry.spans import record_buffered, record_watcher_failure


class StatePublisher:
    """Holds the current state of a watcher and publishes each change to it.

    `on_warning` receives a message when the watcher fails and when it recovers.
    """

    def __init__(self, channel: WatcherChannel, on_warning: Callable[[str], None]) -> None:
        self._channel = channel
        self._on_warning = on_warning
        self.state = WatcherState(os.getpid(), is_ready=False, committed_at=None, generation=0)
        self.published_at = 0.0  # on the monotonic clock

    def publish(
        self,
        command: WatcherCommand,
        waiting: int,
        waiting_since: float | None,
        **changes: Any,  # Any: further fields of WatcherState
    ) -> None:
        """Replace and publish the state; `waiting_since` is a time on the monotonic clock."""
        previous = self.state
        state = replace(
            previous,
            waiting=waiting,
            waiting_since=None if waiting_since is None else _to_unix_time(waiting_since),
            is_paused=command.is_paused,
            min_interval_s=command.min_interval_s,
            **changes,
        )
        self.published_at = time.monotonic()
        record_buffered(waiting)
        # Write the file before `state`: a search that follows a change of `state` reads the file.
        self._channel.publish(state)
        self.state = state
        self._report_failure(previous.error, state.error)

    def _report_failure(self, previous: str | None, error: str | None) -> None:
        if error is not None and error != previous:
            record_watcher_failure(error)
            self._on_warning(f"the watcher failed: {error}")
        elif previous is not None and error is None:
            self._on_warning("the watcher has recovered")


def _to_unix_time(moment: float) -> float:
    return time.time() - (time.monotonic() - moment)
