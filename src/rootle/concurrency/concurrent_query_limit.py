"""Limit how many queries of one index are computed at the same time, and count those that run."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Final, Self

from rootle.concurrency.fair_semaphore import FairSemaphore

# Two threads that share the interpreter lock take longer than one, so few queries run at once: with
# a hundred concurrent queries over 8,729 chunks, the median latency was 0.36 s one at a time and
# 0.88 s all at once.
_CONCURRENCY_IF_SMALL: Final = 1
# The lookups in a large index release the lock for long enough.
_CONCURRENCY: Final = 2


class ConcurrencyLimit:
    """Admits a few queries at a time, in the order of their arrival. Thread-safe."""

    def __init__(self, *, is_small: bool) -> None:
        """`is_small` says that the lookups in the index are too short to pay off threads."""
        self._semaphore = FairSemaphore(_CONCURRENCY_IF_SMALL if is_small else _CONCURRENCY)

    def acquire(self, *, is_local: bool) -> AbstractContextManager[None]:
        """Return a context manager that waits for the turn of a query and holds it in its block.

        A block that waits for a server (`is_local=False`) is not limited, because waiting takes no
        CPU time: the context manager then does nothing.
        """
        return self._semaphore.acquire() if is_local else nullcontext()


class ActiveQueries:
    """Context manager that counts the queries in progress."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    @property
    def is_alone(self) -> bool:
        """Whether at most one query is in progress."""
        return self._count <= 1

    def __enter__(self) -> Self:
        with self._lock:
            self._count += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._count -= 1
