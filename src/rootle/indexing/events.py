"""Subscriptions to new generations of the index."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.types import IndexUpdated

if TYPE_CHECKING:
    from rootle.index.local.snapshot import Snapshot
    from rootle.indexing.update_listener import UpdateListener

_LOG = logging.getLogger(__name__)

Subscriber = Callable[[IndexUpdated], object]


class Subscriptions:
    """Reports the new generations of one index, whichever process writes them. Thread-safe."""

    def __init__(self, index_dir: Path, snapshot: Callable[[], Snapshot]) -> None:
        self._index_dir = index_dir
        self._snapshot = snapshot
        self._lock = threading.Lock()
        self._subscribers = Subscribers()
        self._listener: UpdateListener | None = None  # opened for the first subscriber

    def add(self, subscriber: Subscriber) -> Callable[[], None]:
        """Add a subscriber; return a function that removes it and may be called repeatedly."""
        self._open_listener().start()
        return self._subscribers.add(subscriber)

    def publish_own_update(self, event: IndexUpdated) -> None:
        """Publish an update that this process has written."""
        if self._listener is not None:
            self._listener.publish_own(event)

    def publish_updates_of_others(self) -> None:
        """Publish an update that another process has written since the last publication."""
        if self._subscribers.exist:
            listener = self._open_listener()
            listener.start()  # after `close`, the listener is a new one
            listener.check()

    def close(self) -> None:
        """Stop listening; the subscribers remain."""
        with self._lock:
            listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()

    def _open_listener(self) -> UpdateListener:
        from rootle.indexing.update_listener import UpdateListener

        with self._lock:
            if self._listener is None:
                self._listener = UpdateListener(
                    self._index_dir, self._snapshot, self._subscribers.publish
                )
            return self._listener


class Subscribers:
    """Calls all subscribers in order, on the thread that publishes an event. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: dict[object, Subscriber] = {}

    @property
    def exist(self) -> bool:
        """Whether there is any subscriber."""
        return bool(self._subscribers)

    def add(self, subscriber: Subscriber) -> Callable[[], None]:
        """Add a subscriber; return a function that removes it and may be called repeatedly."""
        key = object()
        with self._lock:
            self._subscribers[key] = subscriber

        def remove() -> None:
            with self._lock:
                self._subscribers.pop(key, None)

        return remove

    def publish(self, event: IndexUpdated) -> None:
        with self._lock:
            subscribers = list(self._subscribers.values())
        for subscriber in subscribers:
            try:
                subscriber(event)
            except Exception:
                # The index is intact, so an error in a callback is logged and stops neither the
                # other subscribers nor the watcher.
                _LOG.exception("a subscriber of index-updated failed: %r", subscriber)
