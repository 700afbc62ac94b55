"""The main program of a worker process, which receives pickled lists of jobs and sends results."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rootle.embed.model_choice import ModelChoice, open_table
from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.sources.source import DocumentReader

_HEADER = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """The settings that a worker receives before its first job."""

    readers: Mapping[str, DocumentReader]  # keyed by the name of the source
    index_dir: str
    limits: ChunkLimits
    model: ModelChoice
    with_documents: bool  # whether the index may contain vectors to reuse


def send(stream: IO[bytes], value: Any) -> None:  # Any: anything that can be pickled
    """Write a pickled value, preceded by its length."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_HEADER.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Return the next value; None at the end of the stream, even in the middle of a value."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (size,) = _HEADER.unpack(header)
    data = stream.read(size)
    return pickle.loads(data) if len(data) == size else None


def main() -> None:
    """Run jobs from standard input until the parent closes it or dies."""
    # If Ctrl-C reaches this process too, ignore it: the parent ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = sys.stdin.buffer
    # A stray print must not end up in the stream of results.
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # These modules are not imported at the top, because the parent also imports this module and
    # needs no grammars. They are imported before the setup is received, because the parent may send
    # the setup much later.
    from rootle.index.local.database import open_database
    from rootle.index.local.docstore import DocStore
    from rootle.ingest.index_records import Analyzer
    from rootle.ingest.workers.job_runner import run_job

    setup: WorkerSetup | None = receive(requests)
    if setup is None:
        return
    analyzer = Analyzer(setup.limits, open_table(setup.model) if setup.model.is_table else None)
    documents = None
    if setup.with_documents:
        documents = DocStore(open_database(Path(setup.index_dir), create=False))
    try:
        while (jobs := receive(requests)) is not None:
            send(results, [run_job(job, setup.readers, analyzer, documents) for job in jobs])
    except BrokenPipeError:
        os._exit(1)  # the parent was killed, and there is nothing to clean up


if __name__ == "__main__":
    main()
