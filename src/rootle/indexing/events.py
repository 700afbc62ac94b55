"""Who wants to know that the index has a new generation."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from rootle.types import IndexUpdated

_LOG = logging.getLogger(__name__)

Subscriber = Callable[[IndexUpdated], object]


class Subscribers:
    """Calls everybody who asked for it, in order, on the thread that wrote the index."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[object, Subscriber] = {}

    def add(self, subscriber: Subscriber) -> Callable[[], None]:
        """Returns a function that ends the subscription; calling it twice does no harm."""
        key = object()
        with self._lock:
            self._known[key] = subscriber

        def end() -> None:
            with self._lock:
                self._known.pop(key, None)

        return end

    def tell(self, event: IndexUpdated) -> None:
        with self._lock:
            known = list(self._known.values())
        for subscriber in known:
            try:
                subscriber(event)
            except Exception:
                # Somebody else's code, and the index is as good as before: the others and the
                # watcher go on, and the log says whose fault it was.
                _LOG.exception("a subscriber of index-updated failed: %r", subscriber)
