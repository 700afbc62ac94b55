"""Starts the processes that read files, some of them before it is known what they are to read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

_MAX_WORKERS: Final = 4
# -P keeps the current folder, which may be anybody's repository, off the path of imports.
_COMMAND: Final = (
    "import sys; sys.path[:] = {path!r}; from rootle.ingest.workers.worker import main; main()"
)


def worker_count() -> int:
    """As many as fit the machine."""
    return min(_MAX_WORKERS, os.cpu_count() or 1)


def start_worker() -> subprocess.Popen[bytes]:
    """A process that loads what it needs and waits for its setup on standard input."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    path = [folder for folder in sys.path if folder]
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _COMMAND.format(path=path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        # Ctrl-C is for the parent alone, which then ends its workers.
        process_group=0 if os.name == "posix" else None,
    )


class PrestartedWorkers:
    """Processes that load while their parent still finds out what there is to do.

    A first index of 6 MB is done 2 % sooner with them, and one of 150 to 600 kB, for which those
    that start later come too late, up to 12 %. Where there turns out to be little to read they are
    ended as soon as that is known. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start as many as will be used, unless some wait already.

        None are started, or fewer, where that is impossible: nobody relies on them.
        """
        count = worker_count()
        if count == 1 or not _is_interpreter(sys.executable):  # one process reads files by itself
            return
        with self._lock, suppress(OSError):
            for _ in range(0 if self._idle else count):
                self._idle.append(start_worker())

    def are_waiting(self) -> bool:
        """Whether there are some, and all of them are alive."""
        return bool(self._idle) and all(process.poll() is None for process in self._idle)

    def hand_over(self) -> PrestartedWorkers:
        """Those that wait, for one run alone, so that nobody else ends them."""
        taken = PrestartedWorkers()
        with self._lock:
            taken._idle, self._idle = self._idle, []
        return taken

    def take(self) -> subprocess.Popen[bytes] | None:
        """One of them, which is the taker's from now on; None where none is left."""
        with self._lock:
            return self._idle.pop() if self._idle else None

    def end(self) -> None:
        """End those that nobody took."""
        while process := self.take():
            process.kill()
            process.communicate()  # closes its streams and waits for its end


def _is_interpreter(executable: str | None) -> bool:
    """Whether it is Python itself: a program with Python in it may do anything when it starts."""
    return os.path.basename(executable or "").lower().startswith(("python", "pypy"))
