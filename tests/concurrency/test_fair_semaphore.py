"""The order in which waiting threads are admitted, and the effect of a permit holder that hangs."""

from __future__ import annotations

import threading
import time

import pytest

from rootle.concurrency.fair_semaphore import FairSemaphore


class Holders:
    """Threads that hold a permit until `release` is set."""

    def __init__(self, semaphore: FairSemaphore) -> None:
        self.semaphore = semaphore
        self.admitted: list[int] = []
        self.max_concurrent = self._concurrent = 0
        self._lock = threading.Lock()
        self.release = threading.Event()

    def start(self, number: int) -> threading.Thread:
        thread = threading.Thread(target=self._hold, args=(number,), daemon=True)
        thread.start()
        return thread

    def _hold(self, number: int) -> None:
        with self.semaphore.acquire():
            with self._lock:
                self.admitted.append(number)
                self._concurrent += 1
                self.max_concurrent = max(self.max_concurrent, self._concurrent)
            self.release.wait(10)
            with self._lock:
                self._concurrent -= 1

    def wait_until_queued(self, count: int) -> None:
        deadline = time.monotonic() + 10
        while len(self.semaphore._waiting) != count and time.monotonic() < deadline:
            time.sleep(0.001)
        assert len(self.semaphore._waiting) == count


def test_at_most_as_many_threads_run_at_once_as_there_are_permits() -> None:
    holders = run_twelve_threads(2)
    assert holders.max_concurrent == 2
    assert sorted(holders.admitted) == list(range(12))


def test_waiting_threads_are_admitted_in_order_of_arrival() -> None:
    # Threads that are admitted at the same time may append in any order. One permit prevents this.
    assert run_twelve_threads(1).admitted == list(range(12))


def run_twelve_threads(permits: int) -> Holders:
    """Queue twelve threads one after the other, release them, and wait until they end."""
    holders = Holders(FairSemaphore(permits, stall_timeout_s=60))
    threads = []
    for number in range(12):
        threads.append(holders.start(number))
        holders.wait_until_queued(max(0, number + 1 - permits))
    holders.release.set()
    for thread in threads:
        thread.join(10)
    return holders


def test_a_holder_that_hangs_delays_the_others_once_and_no_permit_is_lost() -> None:
    semaphore = FairSemaphore(1, stall_timeout_s=0.05)
    stuck, others = Holders(semaphore), Holders(semaphore)
    others.release.set()
    hanging = stuck.start(0)
    deadline = time.monotonic() + 10
    while not stuck.admitted and time.monotonic() < deadline:
        time.sleep(0.001)
    threads = [others.start(number) for number in range(20)]
    for thread in threads:
        thread.join(10)
    assert sorted(others.admitted) == list(range(20))
    stuck.release.set()
    hanging.join(10)
    assert (semaphore._free, semaphore._extra, len(semaphore._waiting)) == (1, 0, 0)


def test_a_block_that_raises_releases_its_permit() -> None:
    semaphore = FairSemaphore(1, stall_timeout_s=60)
    with pytest.raises(ValueError, match="no"), semaphore.acquire():
        raise ValueError("no")
    with semaphore.acquire():
        pass
