"""Who is let in, and when."""

from __future__ import annotations

import threading
import time

import pytest

from rootle.concurrency.fair_semaphore import FairSemaphore


class Crowd:
    """Threads that take turns, and note who is in."""

    def __init__(self, turns: FairSemaphore) -> None:
        self.turns = turns
        self.came_in: list[int] = []
        self.most = self._in = 0
        self._lock = threading.Lock()
        self.go_on = threading.Event()

    def come(self, number: int) -> threading.Thread:
        thread = threading.Thread(target=self._work, args=(number,), daemon=True)
        thread.start()
        return thread

    def _work(self, number: int) -> None:
        with self.turns.taken():
            with self._lock:
                self.came_in.append(number)
                self._in += 1
                self.most = max(self.most, self._in)
            self.go_on.wait(10)
            with self._lock:
                self._in -= 1

    def wait_for(self, waiting: int) -> None:
        until = time.monotonic() + 10
        while len(self.turns._waiting) != waiting and time.monotonic() < until:
            time.sleep(0.001)
        assert len(self.turns._waiting) == waiting


def test_no_more_are_in_at_once_than_there_are_turns() -> None:
    crowd = _crowded(2)
    assert crowd.most == 2
    assert sorted(crowd.came_in) == list(range(12))


def test_those_that_wait_follow_in_the_order_in_which_they_came() -> None:
    # With one turn there is one order; two that are let in at once may note it in either.
    assert _crowded(1).came_in == list(range(12))


def _crowded(at_once: int) -> Crowd:
    """A crowd of twelve that has come and gone."""
    crowd = Crowd(FairSemaphore(at_once, timeout_s=60))
    threads = []
    for number in range(12):
        threads.append(crowd.come(number))
        crowd.wait_for(max(0, number + 1 - at_once))
    crowd.go_on.set()
    for thread in threads:
        thread.join(10)
    return crowd


def test_one_that_hangs_delays_the_others_once_and_no_turn_is_lost() -> None:
    turns = FairSemaphore(1, timeout_s=0.05)
    stuck, others = Crowd(turns), Crowd(turns)
    others.go_on.set()
    hanging = stuck.come(0)
    until = time.monotonic() + 10
    while not stuck.came_in and time.monotonic() < until:
        time.sleep(0.001)
    threads = [others.come(number) for number in range(20)]
    for thread in threads:
        thread.join(10)
    assert sorted(others.came_in) == list(range(20))
    stuck.go_on.set()
    hanging.join(10)
    assert (turns._free, turns._lent, len(turns._waiting)) == (1, 0, 0)


def test_what_fails_gives_its_turn_back() -> None:
    turns = FairSemaphore(1, timeout_s=60)
    with pytest.raises(ValueError, match="no"), turns.taken():
        raise ValueError("no")
    with turns.taken():
        pass
