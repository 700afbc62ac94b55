"""Jobs done side by side in processes of our own, their results in the order of the jobs.

Not `multiprocessing`: its spawned children run the caller's `__main__` again, so a script without
a guard would index itself for ever, and forked ones inherit threads that are not there any more.
"""

from __future__ import annotations

import logging
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from rootle.errors import IngestError
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.ingest.workers.worker import WorkerSetup, receive, send
from rootle.ingest.workers.worker_process import PrestartedWorkers, start_worker

_LOG = logging.getLogger(__name__)
_BATCH_BYTES: Final = 256_000
_BATCH_FILES: Final = 64
# Towards the end they get smaller, down to this, so that all processes are done at the same time.
_LAST_BATCH_BYTES: Final = 32_000
# Batches that may lie about finished before their turn: bounds the memory of a slow writer.
_BATCHES_AHEAD: Final = 4
# Some grammars never give back all that they take; a new process after so much text bounds it.
_RENEW_BYTES: Final = 64_000_000


def run_jobs(
    jobs: Sequence[ReadJob], setup: WorkerSetup, count: int, early: PrestartedWorkers
) -> Iterator[ReadResult]:
    """The result of every job, in order, done by `count` processes, first of all the early ones."""
    pool = _Pool(_batches(jobs, count), setup, count, early)
    try:
        yield from pool.results()
    finally:
        pool.stop()


def _batches(jobs: Sequence[ReadJob], count: int) -> list[list[ReadJob]]:
    batches: list[list[ReadJob]] = [[]]
    left, size = sum(job.size for job in jobs), 0
    for job in jobs:
        most = max(_LAST_BATCH_BYTES, min(_BATCH_BYTES, left // (2 * count)))
        if batches[-1] and (size + job.size > most or len(batches[-1]) >= _BATCH_FILES):
            batches.append([])
            left, size = left - size, 0
        batches[-1].append(job)
        size += job.size
    return batches


class _Pool:
    def __init__(
        self,
        batches: Sequence[list[ReadJob]],
        setup: WorkerSetup,
        count: int,
        early: PrestartedWorkers,
    ) -> None:
        self._setup = setup
        self._early = early
        self._batches = batches
        self._next = iter(range(len(batches)))
        self._lock = threading.Lock()
        self._room = threading.Semaphore(count * _BATCHES_AHEAD)
        self._done: queue.SimpleQueue[tuple[int, list[ReadResult] | BaseException]]
        self._done = queue.SimpleQueue()
        self._stopping = False
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads = [
            threading.Thread(target=self._serve, daemon=True)
            for _ in range(min(count, len(batches)))
        ]
        for thread in self._threads:
            thread.start()

    def results(self) -> Iterator[ReadResult]:
        early: dict[int, list[ReadResult]] = {}
        for turn in range(len(self._batches)):
            while turn not in early:
                number, outcome = self._done.get()
                if isinstance(outcome, BaseException):
                    raise IngestError(f"an indexing process failed: {outcome}") from outcome
                early[number] = outcome
            yield from early.pop(turn)
            self._room.release()

    def stop(self) -> None:
        self._stopping = True
        for _ in self._batches:
            self._room.release()
        with self._lock:
            processes = list(self._processes)
        for process in processes:
            process.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """One thread a process: hands it batch after batch and collects what comes back."""
        number = -1
        try:
            process = self._start()
            served = 0
            while not self._stopping:
                self._room.acquire()
                with self._lock:
                    number = next(self._next, -1)
                if number < 0 or self._stopping:
                    break
                if served > _RENEW_BYTES:
                    self._end(process)
                    process, served = self._start(), 0
                served += sum(job.size for job in self._batches[number])
                results = self._ask(process, self._batches[number])
                if results is None and not self._stopping:
                    self._end(process)
                    process, results = self._one_by_one(self._batches[number])
                self._done.put((number, results or []))
            self._end(process)
        except Exception as error:  # goes on in the thread that waits for the results
            self._done.put((number, error))

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._early.take() or start_worker()
        with self._lock:
            self._processes.add(process)
            if self._stopping:
                process.kill()
        self._send(process, self._setup)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # it died before it took what was sent to it
                    stream.close()
        process.wait()
        with self._lock:
            self._processes.discard(process)

    def _ask(
        self, process: subprocess.Popen[bytes], jobs: list[ReadJob]
    ) -> list[ReadResult] | None:
        """The results of a batch; None where the process died over it."""
        if not self._send(process, jobs) or process.stdout is None:
            return None
        results: list[ReadResult] | None = receive(process.stdout)
        return results

    def _send(self, process: subprocess.Popen[bytes], value: object) -> bool:
        try:
            if process.stdin is not None:
                send(process.stdin, value)
        except OSError:
            return False
        return True

    def _one_by_one(self, jobs: list[ReadJob]) -> tuple[subprocess.Popen[bytes], list[ReadResult]]:
        """Find the file that a grammar crashes on, and cut that one without its grammar."""
        process = self._start()
        results: list[ReadResult] = []
        for job in jobs:
            for attempt in (job, replace(job, plain=True)):
                answer = self._ask(process, [attempt])
                if answer is not None:
                    results += answer
                    break
                _LOG.warning("the process that read %s died; trying again", job.path)
                self._end(process)
                process = self._start()
            else:
                results.append(ReadResult(job, skip="unreadable"))
        return process, results
