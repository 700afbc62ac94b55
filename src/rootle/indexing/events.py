"""The event "index-updated": find new generations of an index and report them to subscribers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from rootle.errors import IndexStorageError
from rootle.types import IndexUpdated

if TYPE_CHECKING:
    from rootle.index.local.manifest import IndexedFiles
    from rootle.indexing.index_state import IndexState

_LOG = logging.getLogger(__name__)

# A check takes about 10 µs while nothing changes.
_POLL_INTERVAL_S: Final = 1.0

Subscriber = Callable[[IndexUpdated], object]


class IndexEvents:
    """Reports the commits of all processes to subscribers. Thread-safe.

    Commits of this process are reported on the thread that made them, others on a thread that
    exists while there are subscribers.
    """

    def __init__(self, open_state: Callable[[], IndexState]) -> None:
        """Take a function that returns the state of the index."""
        self._open_state = open_state
        self._lock = threading.Lock()
        self._subscribers: dict[object, Subscriber] = {}
        self._known: IndexedFiles | None = None  # at the last report
        self._stamp: object = None
        self._stopped: threading.Event | None = None  # of the thread that polls

    def add(self, subscriber: Subscriber) -> Callable[[], None]:
        """Add a subscriber; return a function that removes it and may be called repeatedly."""
        key = object()
        with self._lock:
            if not self._subscribers:
                self._find_update()  # earlier commits are not reported
            self._subscribers[key] = subscriber
            self._start()

        def remove() -> None:
            with self._lock:
                self._subscribers.pop(key, None)
                if not self._subscribers:
                    self._stop()

        return remove

    def publish(self) -> None:
        """Report the commits since the last report, if any, and restart the thread."""
        with self._lock:
            if not self._subscribers:
                return
            self._start()
            event = self._find_update()
        self._call_subscribers(event)

    def close(self) -> None:
        """Stop the thread until the next commit of this process."""
        with self._lock:
            self._stop()

    def _start(self) -> None:
        if self._stopped is None:
            self._stopped = threading.Event()
            name, arguments = "rootle-index-events", (self._stopped,)
            threading.Thread(target=self._poll, args=arguments, name=name, daemon=True).start()

    def _stop(self) -> None:
        if self._stopped is not None:
            self._stopped.set()
            self._stopped = None

    def _poll(self, stopped: threading.Event) -> None:
        while not stopped.wait(_POLL_INTERVAL_S):
            with self._lock:
                if stopped.is_set():
                    return
                is_new = self._open_state().stamp() != self._stamp
                event = self._find_update() if is_new else None
            self._call_subscribers(event)

    def _find_update(self) -> IndexUpdated | None:
        """Return the difference between the index and its state at the last call, if any."""
        state = self._open_state()
        self._stamp = state.stamp()  # before reading, so that no later commit is missed
        try:
            files = state.indexed_files()
        except IndexStorageError:
            return None  # there is no index, or it is being replaced
        if not files.generation or files == self._known:
            return None
        before = {} if self._known is None else self._known.digests
        self._known = files
        changed = files.digests.items() - before.items()
        removed = before.keys() - files.digests.keys()
        paths = sorted(path for path, _ in changed)
        return IndexUpdated(files.generation, tuple(paths), tuple(sorted(removed)))

    def _call_subscribers(self, event: IndexUpdated | None) -> None:
        if event is None:
            return
        # Without the lock, because a subscriber may search while another thread writes.
        for subscriber in list(self._subscribers.values()):
            try:
                subscriber(event)
            except Exception:
                # The index is intact, so an error in a callback is logged and stops neither the
                # other subscribers nor the watcher.
                _LOG.exception("a subscriber of index-updated failed: %r", subscriber)
