"""A process that reads files for the pipeline: pickled lists of jobs in, of results out."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rootle.embed.model_choice import ModelChoice, open_table
from rootle.ingest.chunking.limits import ChunkLimits

_HEADER = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a worker must know before its first job."""

    root: str
    index_dir: str
    limits: ChunkLimits
    model: ModelChoice
    with_documents: bool  # there is something in the index to start from


def send(stream: IO[bytes], value: Any) -> None:  # Any: whatever can be pickled
    """Write one value with its length before it."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_HEADER.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next value; None at the end of the stream, also where it ends in the middle of one."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (size,) = _HEADER.unpack(header)
    data = stream.read(size)
    return pickle.loads(data) if len(data) == size else None


def main() -> None:
    """Serve the parent on standard input and output until it closes them or dies."""
    # Ctrl-C reaches the whole group of processes; the parent ends its workers by itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source = sys.stdin.buffer
    # Whatever prints by mistake must not fall into the stream of results.
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Not at the top: the parent, which imports this module too, needs no grammars. Before the setup
    # is awaited, because the parent may still be far from sending it.
    from rootle.index.local.database import open_database
    from rootle.index.local.docstore import DocStore
    from rootle.ingest.analyze import Analyzer
    from rootle.ingest.workers.job_runner import do_job

    setup: WorkerSetup | None = receive(source)
    if setup is None:
        return
    root = Path(setup.root)
    analyzer = Analyzer(setup.limits, open_table(setup.model) if setup.model.is_table else None)
    documents = None
    if setup.with_documents:
        documents = DocStore(open_database(Path(setup.index_dir), create=False))
    try:
        while (jobs := receive(source)) is not None:
            send(sink, [do_job(job, root, analyzer, documents) for job in jobs])
    except BrokenPipeError:
        os._exit(1)  # the parent was killed: nobody is left to tell, and nothing to tidy up


if __name__ == "__main__":
    main()
