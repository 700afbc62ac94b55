"""Standard input and output, reserved for the protocol."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

# The maximum length of a line. It equals the SDK's limit for the body of an HTTP request.
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
LINE_END_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class ProtocolStreams:
    """The streams from and to a client."""

    source: BinaryIO
    sink: BinaryIO

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that the client sends.

        If a line is too long, its middle is left out, so that slightly more than MAX_LINE_BYTES
        remain. Its start and end are kept, because they may contain the id of the request.
        """
        while line := self.source.readline(MAX_LINE_BYTES):
            block = end = line
            while len(block) == MAX_LINE_BYTES and not block.endswith(b"\n"):
                block = self.source.readline(MAX_LINE_BYTES)
                end = (end + block)[-LINE_END_BYTES:]
            yield line if block is line else line + end

    def send(self, line: bytes) -> None:
        """Write a line. Raise OSError if the client has closed its end."""
        self.sink.write(line + b"\n")
        self.sink.flush()


def claim_standard_streams() -> ProtocolStreams:
    """Return standard input and output, and disconnect the rest of the process from them.

    Afterwards, all output of plugins, C libraries and child processes goes to standard error, and
    their standard input is empty.
    """
    sys.stdout.flush()
    streams = ProtocolStreams(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(null, 1)
    os.close(null)
    # Python has chosen block buffering for the pipe and would print messages only at exit.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    return streams
