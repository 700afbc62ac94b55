"""Feeds one server beside the answering of questions, in a thread while there is work."""

from __future__ import annotations

import logging
import threading
import time

from rootle.errors import RootleError
from rootle.index.remote.replica_state import ReplicaState
from rootle.index.remote.replication import Replication

_LOG = logging.getLogger(__name__)

_FAREWELL_S = 0.5


class Replicator:
    """Safe to use from many threads."""

    def __init__(self, feed: Replication) -> None:
        self._feed = feed
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_asked_again = False
        self._is_closed = False
        self._started_s = 0.0
        self._is_idle = threading.Event()
        self._is_idle.set()

    def wake(self) -> None:
        """Have the server brought up to date soon; returns at once."""
        with self._lock:
            if self._is_closed:
                return
            if not self._is_idle.is_set():
                self._is_asked_again = True
                return
            self._is_idle.clear()
            self._started_s = time.monotonic()
            # It must not keep a command from ending: the next one goes on where it stopped.
            name = f"rootle-feed-{self._feed.target.leg}"
            self._thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._thread.start()

    def run_now(self, timeout_s: float) -> ReplicaState | None:
        """Bring the server up to date and count what it holds; None: another process is at it."""
        return self._feed.run(lambda: True, timeout_s=timeout_s, is_forced=True)

    def wait(self, timeout_s: float) -> None:
        """Return as soon as nothing is being fed, or when that has taken longer than `timeout_s`.

        What takes long is waited for once, not by every question.
        """
        self._is_idle.wait(max(0.0, self._started_s + timeout_s - time.monotonic()))

    def close(self) -> None:
        """Stop between two batches; what is on its way to a slow server is not waited for."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            thread.join(_FAREWELL_S)

    def _work(self) -> None:
        while True:
            try:
                self._feed.run(lambda: not self._is_closed)
            except RootleError as error:
                # The index here is gone, damaged, or cannot be written: whoever searches is told.
                _LOG.warning("the %s server was not fed: %s", self._feed.target.leg, error)
            with self._lock:
                if not self._is_asked_again or self._is_closed:
                    self._is_idle.set()
                    return
                self._is_asked_again = False
