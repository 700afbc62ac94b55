"""Prevent a client that does not read standard error from blocking the server."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_BLOCK_BYTES: Final = 65_536
_MAX_BLOCKS: Final = 64
# The maximum time for writing the last messages when the server exits.
_FLUSH_TIMEOUT_S: Final = 1.0

_Blocks = queue.Queue[bytes]
_END: Final = b""


@contextmanager
def relay_stderr() -> Iterator[None]:
    """Pass standard error through a buffer; drop messages while the buffer is full.

    This includes the messages of logs, warnings, C libraries and child processes.
    """
    original = os.dup(2)
    source, sink = os.pipe()
    os.dup2(sink, 2)
    os.close(sink)
    blocks: _Blocks = queue.Queue(_MAX_BLOCKS)
    reader = threading.Thread(target=_read, args=(source, blocks), daemon=True)
    writer = threading.Thread(target=_write, args=(blocks, original), daemon=True)
    reader.start()
    writer.start()
    try:
        yield
    finally:
        with suppress(OSError, AttributeError):
            sys.stderr.flush()
        os.dup2(original, 2)  # closes this process's end of the pipe
        writer.join(_FLUSH_TIMEOUT_S)


def _read(source: int, blocks: _Blocks) -> None:
    while block := os.read(source, _BLOCK_BYTES):
        with suppress(queue.Full):
            blocks.put_nowait(block)
    blocks.put(_END)


def _write(blocks: _Blocks, target: int) -> None:
    while block := blocks.get():
        with suppress(OSError):  # the reader is gone
            while block:
                block = block[os.write(target, block) :]
