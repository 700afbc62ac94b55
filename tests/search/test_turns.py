"""Who is let in, and when."""

from __future__ import annotations

import threading
import time

import pytest

from rootle.search.turns import Turns


class Crowd:
    """Threads that take turns, and note who is in."""

    def __init__(self, turns: Turns) -> None:
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


def test_so_many_are_in_at_once_and_the_others_follow_in_their_order() -> None:
    crowd = Crowd(Turns(2, patience_s=60))
    threads = []
    for number in range(12):
        threads.append(crowd.come(number))
        crowd.wait_for(max(0, number - 1))
    crowd.go_on.set()
    for thread in threads:
        thread.join(10)
    assert crowd.most <= 2
    assert sorted(crowd.came_in[:2]) == [0, 1]
    # Two that are let in at the same moment may note it in either order.
    assert all(abs(number - place) <= 1 for place, number in enumerate(crowd.came_in))


def test_behind_those_that_hang_nobody_waits_for_ever() -> None:
    crowd = Crowd(Turns(1, patience_s=0.05))
    hanging = crowd.come(0)
    second = crowd.come(1)
    crowd.wait_for(1)
    until = time.monotonic() + 10
    while len(crowd.came_in) < 2 and time.monotonic() < until:
        time.sleep(0.001)
    assert crowd.came_in == [0, 1]
    crowd.go_on.set()
    hanging.join(10)
    second.join(10)
    assert crowd.turns._free == 1  # nothing was lost or made


def test_what_fails_gives_its_turn_back() -> None:
    turns = Turns(1, patience_s=60)
    with pytest.raises(ValueError, match="no"), turns.taken():
        raise ValueError("no")
    with turns.taken():
        pass
