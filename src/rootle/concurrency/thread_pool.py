"""Threads that may hang without harm: kept for the next task while they answer, else given up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from rootle.errors import UnavailableError

# A hundred questions at once need as many; more than that are hanging, or too much for any server.
_MOST: Final = 128

_T = TypeVar("_T")
_Task = Callable[[], None]


class ThreadPool:
    """Runs tasks side by side, each at once.

    Unlike a pool of the standard library it never lets a task wait behind one that hangs, and no
    thread keeps the process from ending.
    """

    def __init__(self, name: str, most: int = _MOST) -> None:
        self._name = name
        self._most = most
        self._idle: list[SimpleQueue[_Task | None]] = []
        self._alive = 0
        self._is_closed = False
        self._lock = threading.Lock()

    def run(self, work: Callable[[], _T]) -> Future[_T]:
        """Start a task; raises UnavailableError where too many earlier ones have not come back."""
        future: Future[_T] = Future()
        with self._lock:
            mailbox = self._idle.pop() if self._idle else None
            if mailbox is None:
                if self._alive >= self._most:
                    raise UnavailableError(f"{self._alive} earlier requests have not come back")
                self._alive += 1
        if mailbox is None:
            mailbox = SimpleQueue()
            threading.Thread(
                target=self._work, args=(mailbox,), name=self._name, daemon=True
            ).start()
        mailbox.put(lambda: _fulfil(future, work))
        return future

    def close(self) -> None:
        """Let the idle ones end; the others follow with their task."""
        with self._lock:
            self._is_closed = True
            for mailbox in self._idle:
                mailbox.put(None)
            self._idle.clear()

    def _work(self, mailbox: SimpleQueue[_Task | None]) -> None:
        while (task := mailbox.get()) is not None:
            task()
            del task  # nothing of an answer is held while it waits for the next
            with self._lock:
                if self._is_closed:
                    break
                self._idle.append(mailbox)
        with self._lock:
            self._alive -= 1


def _fulfil(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
