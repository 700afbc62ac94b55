"""Read documents in this process, or in several worker processes if that is faster."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rootle.index.local.docstore import DocStore
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.ingest.workers.worker import WorkerSetup
from rootle.ingest.workers.worker_pool import run_jobs
from rootle.ingest.workers.worker_process import (
    PRESTARTED_MIN_BYTES,
    PrestartedWorkers,
    worker_count,
)
from rootle.protocols import Embedder
from rootle.sources.source import DocumentReader

# The minimum amount of text for which worker processes are used. Starting them takes a third of a
# second, in which this process can read almost this much text. With prestarted processes, the
# break-even point is lower (`PRESTARTED_MIN_BYTES`).
_PARALLEL_BYTES: Final = 600_000


def read_documents(
    jobs: Sequence[ReadJob],
    total: int,
    setup: WorkerSetup,
    documents: DocStore,
    open_embedder: Callable[[], Embedder],
    prestarted: PrestartedWorkers,
) -> Iterator[ReadResult]:
    """Return the result of every job. Jobs whose readers cannot be pickled come last.

    `total` is the size of all documents of the jobs in bytes. `documents` and `open_embedder` are
    used if this process reads the documents itself.
    """
    workers = worker_count()
    threshold = _PARALLEL_BYTES
    if prestarted.are_waiting():
        threshold = min(_PARALLEL_BYTES, PRESTARTED_MIN_BYTES)
    if total >= threshold and workers > 1:
        sent = {name: reader for name, reader in setup.readers.items() if _can_be_sent(reader)}
        sent_jobs = [job for job in jobs if job.source in sent]
        yield from run_jobs(sent_jobs, replace(setup, readers=sent), workers, prestarted)
        jobs = [job for job in jobs if job.source not in sent]
    if not jobs:
        return
    # These modules import the bindings of all grammars, which a process that only writes does not
    # need.
    from rootle.ingest.index_records import Analyzer
    from rootle.ingest.workers.job_runner import run_job

    prestarted.end()
    known = documents if setup.with_documents else None
    analyzer = Analyzer(setup.limits, open_embedder() if setup.model.is_table else None)
    for job in jobs:
        yield run_job(job, setup.readers, analyzer, known)


def _can_be_sent(reader: DocumentReader) -> bool:
    """Return whether a reader can be sent to a worker process.

    The program that uses rootle may have supplied the reader.
    """
    try:
        pickle.dumps(reader)
    except Exception:  # pickling may run code of that program
        return False
    return True
