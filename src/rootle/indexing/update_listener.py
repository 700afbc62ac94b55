"""Notify the subscribers of this process when another process updates the index."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from rootle.errors import IndexStorageError
from rootle.index.local.snapshot import Snapshot
from rootle.indexing.index_folder_watch import FolderWatch
from rootle.types import IndexUpdated

_LOG = logging.getLogger(__name__)


class UpdateListener:
    """Publishes each new generation once, whichever process has written it. Thread-safe.

    On Linux, a thread waits for notices from other processes. On other systems, and for updates
    written by another machine, call `check`. Several updates in quick succession may be published
    as one.
    """

    def __init__(
        self,
        index_dir: Path,
        snapshot: Callable[[], Snapshot],
        publish: Callable[[IndexUpdated], object],
    ) -> None:
        self._index_dir = index_dir
        self._snapshot = snapshot
        self._publish = publish
        self._lock = threading.RLock()
        self._is_started = False
        self._generation = -1  # the last published one; -1 if there is no complete index
        self._paths: frozenset[str] = frozenset()  # the paths indexed in that generation
        self._watch: FolderWatch | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start listening, unless already started. Earlier updates are not published."""
        with self._lock:
            if self._is_started:
                return
            self._is_started = True
            try:
                self._watch = FolderWatch(self._index_dir)
            except OSError as error:
                _LOG.info("updates by other processes are noticed at the next search: %s", error)
            snapshot = self._complete_snapshot()
            if snapshot is not None:
                self._generation, self._paths = snapshot.generation, _indexed_paths(snapshot)
            if self._watch is not None:
                run = threading.Thread(
                    target=self._run, args=(self._watch,), name="rootle-updates", daemon=True
                )
                self._thread = run
                run.start()

    def publish_own(self, event: IndexUpdated) -> None:
        """Publish an update that this process has written, unless `check` has published it."""
        with self._lock:
            if event.generation <= self._generation:
                return
            self._generation = event.generation
            self._paths = self._paths.union(event.changed).difference(event.removed)
        self._publish(event)

    def check(self) -> None:
        """Publish an update that another process has written since the last publication."""
        # The lock is not held during the call: a subscriber may search, which takes other locks.
        if (event := self._next_event()) is not None:
            self._publish(event)

    def _next_event(self) -> IndexUpdated | None:
        with self._lock:
            snapshot = self._complete_snapshot() if self._is_started else None
            if snapshot is None or snapshot.generation == self._generation:
                return None
            # After `rootle clear`, the generations start again.
            since = self._generation if snapshot.generation > self._generation else -1
            indexed = [state for state in snapshot.all_files() if state.skip is None]
            paths = frozenset(state.path for state in indexed)
            changed = sorted(state.path for state in indexed if state.generation > since)
            removed = sorted(self._paths - paths)
            self._generation, self._paths = snapshot.generation, paths
            return IndexUpdated(snapshot.generation, tuple(changed), tuple(removed))

    def close(self) -> None:
        """Stop the thread; a later `start` begins again."""
        with self._lock:
            watch, thread = self._watch, self._thread
            self._watch = self._thread = None
            self._is_started, self._generation, self._paths = False, -1, frozenset()
        if watch is not None:
            watch.stop()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self, watch: FolderWatch) -> None:
        try:
            while watch.wait():
                self.check()
        except OSError as error:
            _LOG.info("updates by other processes are noticed at the next search: %s", error)

    def _complete_snapshot(self) -> Snapshot | None:
        try:
            snapshot = self._snapshot()
            return snapshot if snapshot.value("updated_at") else None
        except IndexStorageError:
            return None  # there is no index, or the next search reports that it is damaged


def _indexed_paths(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(state.path for state in snapshot.all_files() if state.skip is None)
