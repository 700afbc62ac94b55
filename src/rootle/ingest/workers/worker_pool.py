"""Run jobs in parallel processes and return their results in the order of the jobs.

`multiprocessing` is not used. Its spawned children run the caller's `__main__` again, so a script
without a guard would start processes endlessly. Its forked children inherit the locks of other
threads.
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
from rootle.sources.files.skip_rules import UNREADABLE

_LOG = logging.getLogger(__name__)
_BATCH_BYTES: Final = 256_000
_BATCH_FILES: Final = 64
# The first and the last batches are smaller, down to this size: the first, so that the writer soon
# has something to write, and the last, so that all processes finish at about the same time.
_MIN_BATCH_BYTES: Final = 32_000
# The maximum number of batches per process that wait for the writer, to limit memory.
_MAX_BATCHES_AHEAD: Final = 4
# A process is replaced after it has read this much text, because some grammars leak memory.
_MAX_BYTES_PER_PROCESS: Final = 64_000_000


def run_jobs(
    jobs: Sequence[ReadJob], setup: WorkerSetup, count: int, prestarted: PrestartedWorkers
) -> Iterator[ReadResult]:
    """Return the result of every job, in order, from `count` processes, prestarted ones first."""
    pool = _WorkerPool(_make_batches(jobs, count), setup, count, prestarted)
    try:
        yield from pool.results()
    finally:
        pool.stop()


def _make_batches(jobs: Sequence[ReadJob], count: int) -> list[list[ReadJob]]:
    batches: list[list[ReadJob]] = [[]]
    total = remaining = sum(job.size for job in jobs)
    size = 0
    for job in jobs:
        share = min(total - remaining, remaining) // (2 * count)
        limit = max(_MIN_BATCH_BYTES, min(_BATCH_BYTES, share))
        if batches[-1] and (size + job.size > limit or len(batches[-1]) >= _BATCH_FILES):
            batches.append([])
            remaining, size = remaining - size, 0
        batches[-1].append(job)
        size += job.size
    return batches


class _WorkerPool:
    def __init__(
        self,
        batches: Sequence[list[ReadJob]],
        setup: WorkerSetup,
        count: int,
        prestarted: PrestartedWorkers,
    ) -> None:
        self._setup = setup
        self._prestarted = prestarted
        self._batches = batches
        self._next = iter(range(len(batches)))
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(count * _MAX_BATCHES_AHEAD)
        self._outcomes: queue.SimpleQueue[tuple[int, list[ReadResult] | BaseException]]
        self._outcomes = queue.SimpleQueue()
        self._stopping = False
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads = [
            threading.Thread(target=self._serve, daemon=True)
            for _ in range(min(count, len(batches)))
        ]
        for thread in self._threads:
            thread.start()

    def results(self) -> Iterator[ReadResult]:
        finished: dict[int, list[ReadResult]] = {}
        for next_number in range(len(self._batches)):
            while next_number not in finished:
                number, outcome = self._outcomes.get()
                if isinstance(outcome, BaseException):
                    reason = str(outcome) or type(outcome).__name__  # such as MemoryError
                    raise IngestError(f"an indexing process failed: {reason}") from outcome
                finished[number] = outcome
            yield from finished.pop(next_number)
            self._slots.release()

    def stop(self) -> None:
        self._stopping = True
        for _ in self._batches:
            self._slots.release()
        with self._lock:
            processes = list(self._processes)
        for process in processes:
            process.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Send one batch after another to a process, and collect the results."""
        number = -1
        try:
            process = self._start()
            served = 0
            while not self._stopping:
                self._slots.acquire()
                with self._lock:
                    number = next(self._next, -1)
                if number < 0 or self._stopping:
                    break
                if served > _MAX_BYTES_PER_PROCESS:
                    self._end(process)
                    process, served = self._start(), 0
                served += sum(job.size for job in self._batches[number])
                results = self._run(process, self._batches[number])
                if results is None and not self._stopping:
                    self._end(process)
                    process, results = self._run_one_by_one(self._batches[number])
                self._outcomes.put((number, results or []))
            self._end(process)
        except Exception as error:  # raised again in the thread that waits for the results
            self._outcomes.put((number, error))

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._prestarted.take() or start_worker()
        with self._lock:
            self._processes.add(process)
            if self._stopping:
                process.kill()
        self._send(process, self._setup)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # the process died before it read everything
                    stream.close()
        process.wait()
        with self._lock:
            self._processes.discard(process)

    def _run(
        self, process: subprocess.Popen[bytes], jobs: list[ReadJob]
    ) -> list[ReadResult] | None:
        """Return the results of a batch; None if the process died."""
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

    def _run_one_by_one(
        self, jobs: list[ReadJob]
    ) -> tuple[subprocess.Popen[bytes], list[ReadResult]]:
        """Find the document on which a grammar crashes, and split it without the grammar."""
        process = self._start()
        results: list[ReadResult] = []
        for job in jobs:
            for attempt in (job, replace(job, plain=True)):
                done = self._run(process, [attempt])
                if done is not None:
                    results += done
                    break
                _LOG.warning("a worker process died while reading %s", job.uri)
                self._end(process)
                process = self._start()
            else:
                results.append(ReadResult(job, skip=UNREADABLE))
        return process, results
