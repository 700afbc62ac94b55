"""Replicate to a search server in a background thread."""

from __future__ import annotations

import logging
import threading
import time

from rootle.errors import RootleError
from rootle.index.remote.replica_state import ReplicaState
from rootle.index.remote.replication import Replication

_LOG = logging.getLogger(__name__)

_SHUTDOWN_S = 0.5


class Replicator:
    """Runs replication on demand, in a thread that ends when there is no work. Thread-safe."""

    def __init__(self, replication: Replication) -> None:
        self._replication = replication
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_requested_again = False
        self._is_closed = False
        self._started_s = 0.0
        self._is_idle = threading.Event()
        self._is_idle.set()

    def wake(self) -> None:
        """Start replication and return immediately."""
        with self._lock:
            if self._is_closed:
                return
            if not self._is_idle.is_set():
                self._is_requested_again = True
                return
            self._is_idle.clear()
            self._started_s = time.monotonic()
            # A daemon thread does not delay the end of a command; the next command continues the
            # replication.
            name = f"rootle-replicate-{self._replication.target.leg}"
            self._thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._thread.start()

    def run_now(self, timeout_s: float) -> ReplicaState | None:
        """Replicate, and verify the number of chunks.

        Return None if another process is replicating.
        """
        return self._replication.run(lambda: True, timeout_s=timeout_s, is_forced=True)

    def wait(self, timeout_s: float) -> None:
        """Wait until replication is idle, or has been running for `timeout_s`.

        The timeout is measured from the start of the run, so later queries do not wait for a long
        run.
        """
        self._is_idle.wait(max(0.0, self._started_s + timeout_s - time.monotonic()))

    def close(self) -> None:
        """Stop after the current batch, without waiting for a slow server."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            thread.join(_SHUTDOWN_S)

    def _work(self) -> None:
        while True:
            try:
                self._replication.run(lambda: not self._is_closed)
            except RootleError as error:
                # The local index is missing, damaged or read-only. Searches report this problem.
                _LOG.warning(
                    "replication to the %s server failed: %s", self._replication.target.leg, error
                )
            with self._lock:
                if not self._is_requested_again or self._is_closed:
                    self._is_idle.set()
                    return
                self._is_requested_again = False
