"""Threads that hang do not block the others."""

from __future__ import annotations

import threading
from typing import Final

import pytest

from rootle.concurrency.thread_pool import ThreadPool
from rootle.errors import UnavailableError

_TIMEOUT_S: Final = 60  # long, because the machine may be busy


def test_hanging_threads_block_no_other_task_and_are_reused_once_they_return() -> None:
    threads, release, names = ThreadPool("t"), threading.Event(), set()
    hanging = [threads.run(lambda: release.wait(_TIMEOUT_S)) for _ in range(20)]
    for _ in range(5):
        assert threads.run(lambda: names.add(threading.get_ident())).result(_TIMEOUT_S) is None
    # The second task uses the same thread, or a second one if the first is not idle yet.
    assert len(names) <= 2
    release.set()
    assert all(future.result(_TIMEOUT_S) for future in hanging)
    threads.close()


def test_a_task_is_refused_while_all_threads_hang() -> None:
    threads, release = ThreadPool("t", max_threads=2), threading.Event()
    for _ in range(2):
        threads.run(lambda: release.wait(_TIMEOUT_S))
    with pytest.raises(UnavailableError, match="2 earlier requests"):
        threads.run(int)
    release.set()
    threads.close()
