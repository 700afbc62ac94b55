"""Apps that are closed while other threads use them."""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path

import pytest
from sample import MakeApp

_ROUNDS = 40


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="lists the open files in /proc")
def test_a_closed_app_keeps_no_file_of_its_index_open(
    repository: Path, make_app: MakeApp, tmp_path: Path
) -> None:
    def count_open() -> int:
        numbers = Path("/proc/self/fd").iterdir()
        return sum(str(tmp_path / "index") in os.path.realpath(number) for number in numbers)

    app = make_app(repository)
    gc.disable()  # the garbage collector would also close files in reference cycles
    try:
        for _ in range(2):
            assert app.search("retry_backoff").results
            assert count_open()
            app.close()
            assert count_open() == 0
    finally:
        gc.enable()


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
            except Exception as error:  # would otherwise only end this thread
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
