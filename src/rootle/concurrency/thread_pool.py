"""A thread pool in which a task that hangs blocks no other task."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from rootle.errors import UnavailableError

# The maximum number of threads, enough for a hundred concurrent queries. If more threads were busy,
# some tasks would probably be hanging.
_MAX_THREADS: Final = 128

_T = TypeVar("_T")
_Task = Callable[[], None]


class ThreadPool:
    """Runs each task immediately, in an idle thread or a new one.

    Unlike ThreadPoolExecutor, it never queues a task behind another, and its daemon threads do not
    delay the exit of the process.
    """

    def __init__(self, name: str, max_threads: int = _MAX_THREADS) -> None:
        self._name = name
        self._max_threads = max_threads
        self._idle: list[SimpleQueue[_Task | None]] = []
        self._alive = 0
        self._is_closed = False
        self._lock = threading.Lock()

    def run(self, task: Callable[[], _T]) -> Future[_T]:
        """Start a task. Raise UnavailableError if too many earlier tasks are still running."""
        future: Future[_T] = Future()
        with self._lock:
            queue = self._idle.pop() if self._idle else None
            if queue is None:
                if self._alive >= self._max_threads:
                    raise UnavailableError(f"{self._alive} earlier requests are still running")
                self._alive += 1
        if queue is None:
            queue = SimpleQueue()
            threading.Thread(target=self._work, args=(queue,), name=self._name, daemon=True).start()
        queue.put(lambda: _complete(future, task))
        return future

    def close(self) -> None:
        """Stop idle threads now, and busy threads after their current task."""
        with self._lock:
            self._is_closed = True
            for queue in self._idle:
                queue.put(None)
            self._idle.clear()

    def _work(self, queue: SimpleQueue[_Task | None]) -> None:
        while (task := queue.get()) is not None:
            task()
            del task  # an idle thread must not keep a result alive
            with self._lock:
                if self._is_closed:
                    break
                self._idle.append(queue)
        with self._lock:
            self._alive -= 1


def _complete(future: Future[Any], task: Callable[[], Any]) -> None:
    try:
        result = task()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
