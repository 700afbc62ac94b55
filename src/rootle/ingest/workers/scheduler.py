"""Who reads the files of a run: this process alone, or several side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from rootle.index.local.docstore import DocStore
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.ingest.workers.worker import WorkerSetup
from rootle.ingest.workers.worker_pool import run_jobs
from rootle.ingest.workers.worker_process import PrestartedWorkers, worker_count
from rootle.protocols import Embedder

# Starting processes costs a third of a second; below so much text one alone is done sooner. Those
# that were started early are of use for less.
_PARALLEL_BYTES: Final = 600_000
_PARALLEL_BYTES_EARLY: Final = 150_000


def read_files(
    jobs: Sequence[ReadJob],
    total: int,
    setup: WorkerSetup,
    documents: DocStore,
    open_embedder: Callable[[], Embedder],
    early: PrestartedWorkers,
) -> Iterator[ReadResult]:
    """The result of every job, in order; `total` is their size in bytes.

    `documents` and `open_embedder` are for this process, where it reads by itself.
    """
    workers = worker_count()
    least = min(_PARALLEL_BYTES, _PARALLEL_BYTES_EARLY) if early.are_waiting() else _PARALLEL_BYTES
    if total >= least and workers > 1:
        yield from run_jobs(jobs, setup, workers, early)
        return
    if not jobs:
        return
    # With every grammar's binding, which a process that only writes does without.
    from rootle.ingest.analyze import Analyzer
    from rootle.ingest.workers.job_runner import do_job

    early.end()
    root, known = Path(setup.root), documents if setup.with_documents else None
    analyzer = Analyzer(setup.limits, open_embedder() if setup.model.is_table else None)
    for job in jobs:
        yield do_job(job, root, analyzer, known)
