"""Start worker processes, if possible before it is known which documents they will read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from rootle.sources.files.excluded_dirs import EXCLUDED_DIRS

# The minimum amount of text for which prestarted workers are used.
PRESTARTED_MIN_BYTES: Final = 150_000
_MAX_WORKERS: Final = 4
# Listing this many entries takes a few milliseconds.
_MAX_ENTRIES: Final = 2_000
# -P keeps the current folder, which may be an untrusted repository, off the import path.
_COMMAND: Final = (
    "import sys; sys.path[:] = {path!r}; from rootle.ingest.workers.worker import main; main()"
)


def worker_count() -> int:
    """Return the number of workers to use on this machine."""
    return min(_MAX_WORKERS, os.cpu_count() or 1)


def has_enough_text(folder: Path) -> bool:
    """Return whether a folder may contain enough text for prestarted workers.

    The listing stops as soon as it has found enough, and links are not followed. A folder with too
    many entries to list counts as large.
    """
    size = entries = 0
    pending = [os.fspath(folder)]
    while pending and size < PRESTARTED_MIN_BYTES and entries < _MAX_ENTRIES:
        with suppress(OSError), os.scandir(pending.pop()) as found:
            for entry in found:
                entries += 1
                if not entry.is_dir(follow_symlinks=False):
                    size += entry.stat(follow_symlinks=False).st_size
                elif entry.name not in EXCLUDED_DIRS:
                    pending.append(entry.path)
                if size >= PRESTARTED_MIN_BYTES or entries >= _MAX_ENTRIES:
                    break
    return size >= PRESTARTED_MIN_BYTES or entries >= _MAX_ENTRIES


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
    """Worker processes that start while their parent still scans the sources. Thread-safe.

    They speed up a first index of 6 MB by 2%. They speed up a first index of 150 to 600 kB by up to
    12%, because workers would otherwise start too late. Unneeded workers are ended.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` contains the documents. If it contains little text, no workers are started.

        If `folder` is None, the amount of text is not known, and workers are started.
        """
        self._folder = folder
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start as many workers as a run uses, unless some are waiting or there is too little text.

        If processes cannot be started, there are fewer workers or none, which is not an error.
        """
        count = worker_count()
        if count == 1 or not _is_interpreter(sys.executable):  # one worker saves no time
            return
        if self._folder is not None and not has_enough_text(self._folder):
            return
        with self._lock, suppress(OSError):
            for _ in range(0 if self._idle else count):
                self._idle.append(start_worker())

    def are_waiting(self) -> bool:
        """Return whether workers are waiting and all of them are alive."""
        return bool(self._idle) and all(process.poll() is None for process in self._idle)

    def hand_over(self) -> PrestartedWorkers:
        """Transfer the waiting workers to one run, so that no other run ends them."""
        handed = PrestartedWorkers(self._folder)
        with self._lock:
            handed._idle, self._idle = self._idle, []
        return handed

    def take(self) -> subprocess.Popen[bytes] | None:
        """Remove and return a worker, which the caller has to end; None if there is none."""
        with self._lock:
            return self._idle.pop() if self._idle else None

    def end(self) -> None:
        """End the workers that were not taken."""
        while process := self.take():
            process.kill()
            process.communicate()  # closes its streams and waits for its end


def _is_interpreter(executable: str | None) -> bool:
    """Return whether an executable is Python itself, not a program that embeds Python.

    A program that embeds Python may do anything at startup.
    """
    return os.path.basename(executable or "").lower().startswith(("python", "pypy"))
