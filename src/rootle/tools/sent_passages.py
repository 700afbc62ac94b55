"""The passages that a client has already received, so that they need not be sent again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

# Number of passages that are remembered. A client may have dropped older passages from its context.
_MAX_PASSAGES: Final = 40


class SentPassages:
    """Records the lines of the passages that were recently sent to one client. Thread-safe."""

    def __init__(self) -> None:
        self._passages: OrderedDict[tuple[str, int, int], Mapping[int, str]] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, path: str, lines: Mapping[int, str]) -> None:
        """Record lines of a file that were sent, by their numbers."""
        if not lines:
            return
        with self._lock:
            key = path, min(lines), max(lines)
            self._passages[key] = dict(lines)
            self._passages.move_to_end(key)
            while len(self._passages) > _MAX_PASSAGES:
                self._passages.popitem(last=False)

    def update(self, other: SentPassages) -> None:
        """Record the passages of another object as well."""
        with other._lock:
            passages = list(other._passages.items())
        for (path, _, _), lines in passages:
            self.add(path, lines)

    def contains(self, path: str, lines: Mapping[int, str]) -> bool:
        """Return whether a single sent passage contains all these lines, with the same numbers."""
        with self._lock:
            known = [sent for (of, _, _), sent in self._passages.items() if of == path]
        return bool(lines) and any(
            all(sent.get(number) == text for number, text in lines.items()) for sent in known
        )
