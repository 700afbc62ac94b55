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
_END_BYTES: Final = 16


@contextmanager
def relay_stderr() -> Iterator[None]:
    """Pass standard error through a buffer; drop messages while the buffer is full.

    This includes the messages of logs, warnings, C libraries and child processes.
    """
    original = os.dup(2)
    source, sink = os.pipe()
    os.dup2(sink, 2)
    end = b"\0" + os.urandom(_END_BYTES)
    blocks: _Blocks = queue.Queue(_MAX_BLOCKS)
    reader = threading.Thread(target=_read, args=(source, blocks, end), daemon=True)
    writer = threading.Thread(target=_write, args=(blocks, original), daemon=True)
    reader.start()
    writer.start()
    try:
        yield
    finally:
        with suppress(OSError, AttributeError):
            sys.stderr.flush()
        os.dup2(original, 2)
        # The pipe may have no end yet, because a child process that is still running can write to
        # it, so an end is written.
        os.write(sink, end)
        os.close(sink)
        writer.join(_FLUSH_TIMEOUT_S)


def _read(source: int, blocks: _Blocks, end: bytes) -> None:
    """Put the text before the bytes `end`, which may arrive in two parts, into the queue."""
    start = b""  # may be the first part of `end`
    while block := os.read(source, _BLOCK_BYTES):
        block, found, _ = (start + block).partition(end)
        at = -1 if found else block.rfind(end[:1], -len(end))
        start = block[at:] if at >= 0 and end.startswith(block[at:]) else b""
        if text := block[: len(block) - len(start)]:
            with suppress(queue.Full):
                blocks.put_nowait(text)
        if found:
            break
    blocks.put(_END)


def _write(blocks: _Blocks, target: int) -> None:
    while block := blocks.get():
        with suppress(OSError):  # the reader is gone
            while block:
                block = block[os.write(target, block) :]
