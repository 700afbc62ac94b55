"""Apps that are closed while other threads use them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sample import MakeApp

_ROUNDS = 40


@pytest.mark.slow
def test_an_app_can_be_closed_while_threads_search(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository, stale_check_seconds=0)
    app.index()
    problems: list[Exception] = []
    is_done = threading.Event()

    def search() -> None:
        number = 0
        while not is_done.is_set():
            number += 1
            try:
                app.search(f"retry_backoff {number}")
            except Exception as error:  # of any kind: it would only end this thread
                problems.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(_ROUNDS):
        is_done.wait(0.02)
        app.close()
    is_done.set()
    for thread in threads:
        thread.join()
    assert problems == []
