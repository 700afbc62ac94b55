"""Read documents in this process, or in several worker processes if that is faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rootle.index.local.docstore import DocStore
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.ingest.workers.worker import WorkerSetup
from rootle.ingest.workers.worker_pool import run_jobs
from rootle.ingest.workers.worker_process import PrestartedWorkers, worker_count
from rootle.protocols import Embedder

# Starting processes takes a third of a second, in which this process can read almost this much
# text. With prestarted processes the break-even point is lower.
_PARALLEL_BYTES: Final = 600_000
_PARALLEL_BYTES_PRESTARTED: Final = 150_000


def read_documents(
    jobs: Sequence[ReadJob],
    total: int,
    setup: WorkerSetup,
    documents: DocStore,
    open_embedder: Callable[[], Embedder],
    prestarted: PrestartedWorkers,
) -> Iterator[ReadResult]:
    """Return the result of every job, in order.

    `total` is the size of all documents of the jobs in bytes. `documents` and `open_embedder` are
    used if this process reads the documents itself.
    """
    workers = worker_count()
    threshold = _PARALLEL_BYTES
    if prestarted.are_waiting():
        threshold = min(_PARALLEL_BYTES, _PARALLEL_BYTES_PRESTARTED)
    if total >= threshold and workers > 1:
        yield from run_jobs(jobs, setup, workers, prestarted)
        return
    if not jobs:
        return
    # These modules import the bindings of all grammars, which a process that only writes does not
    # need.
    from rootle.ingest.analyze import Analyzer
    from rootle.ingest.workers.job_runner import run_job

    prestarted.end()
    known = documents if setup.with_documents else None
    analyzer = Analyzer(setup.limits, open_embedder() if setup.model.is_table else None)
    for job in jobs:
        yield run_job(job, setup.readers, analyzer, known)
