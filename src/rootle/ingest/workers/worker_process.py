"""Start worker processes, some of them before it is known what they will read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

_MAX_WORKERS: Final = 4
# -P keeps the current folder, which may be an untrusted repository, off the import path.
_COMMAND: Final = (
    "import sys; sys.path[:] = {path!r}; from rootle.ingest.workers.worker import main; main()"
)


def worker_count() -> int:
    """Return the number of workers that suits the machine."""
    return min(_MAX_WORKERS, os.cpu_count() or 1)


def start_worker() -> subprocess.Popen[bytes]:
    """Start a process that loads its modules and waits for its setup on standard input."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    path = [folder for folder in sys.path if folder]
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _COMMAND.format(path=path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        # Only the parent handles Ctrl-C; it then ends its workers.
        process_group=0 if os.name == "posix" else None,
    )


class PrestartedWorkers:
    """Worker processes that load while their parent still scans the sources.

    They make a first index of 6 MB 2 % faster, and one of 150 to 600 kB, for which workers started
    later would come too late, up to 12 %. Unneeded ones are ended as soon as that is known. Safe to
    use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start as many workers as a run uses, unless some are waiting.

        Where processes cannot be started there are fewer workers or none, which is not an error.
        """
        count = worker_count()
        if count == 1 or not _is_interpreter(sys.executable):  # a single process reads by itself
            return
        with self._lock, suppress(OSError):
            for _ in range(0 if self._idle else count):
                self._idle.append(start_worker())

    def are_waiting(self) -> bool:
        """Return whether there are workers, all of them alive."""
        return bool(self._idle) and all(process.poll() is None for process in self._idle)

    def hand_over(self) -> PrestartedWorkers:
        """Return the waiting workers for the use of one run, so that no other run ends them."""
        handed = PrestartedWorkers()
        with self._lock:
            handed._idle, self._idle = self._idle, []
        return handed

    def take(self) -> subprocess.Popen[bytes] | None:
        """Return a worker that the caller has to end; None if there is none."""
        with self._lock:
            return self._idle.pop() if self._idle else None

    def end(self) -> None:
        """End the workers that were not taken."""
        while process := self.take():
            process.kill()
            process.communicate()  # closes its streams and waits for its end


def _is_interpreter(executable: str | None) -> bool:
    """Return whether it is Python itself; a program that embeds Python may do anything at start."""
    return os.path.basename(executable or "").lower().startswith(("python", "pypy"))
