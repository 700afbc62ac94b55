"""Starts the processes that read files, some of them before it is known what they are to read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import TracebackType
from typing import Final, Self

_MAX_WORKERS: Final = 4
# -P keeps the current folder, which may be anybody's repository, off the path of imports.
_COMMAND: Final = (
    "import sys; sys.path[:] = {path!r}; from rootle.ingest.worker import main; main()"
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


class EarlyWorkers:
    """Processes that load while their parent still finds out what there is to do.

    Those that nobody took end with the block. Where there turns out to be little to read that is
    some milliseconds of another core; else it saves a fiftieth of the time of a first index.
    """

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self._idle = [start_worker() for _ in range(count)]

    def take(self) -> subprocess.Popen[bytes] | None:
        """One of them, which is the taker's from now on; None where none is left."""
        with self._lock:
            return self._idle.pop() if self._idle else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while process := self.take():
            process.kill()
            process.communicate()  # closes its streams and waits for its end
