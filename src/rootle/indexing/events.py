"""Subscriptions to new generations of the index."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from rootle.types import IndexUpdated

_LOG = logging.getLogger(__name__)

Subscriber = Callable[[IndexUpdated], object]


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
