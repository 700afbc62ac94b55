"""Standard input and output, kept for the protocol alone."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

# What the SDK accepts as the body of an HTTP request.
MAX_LINE_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProtocolStreams:
    """The streams from the client and to it."""

    source: BinaryIO
    sink: BinaryIO

    def lines(self) -> Iterator[bytes]:
        """What the client sends, line by line; of one that is too long a part that is no JSON."""
        while line := self.source.readline(MAX_LINE_BYTES):
            yield line
            while len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                line = self.source.readline(MAX_LINE_BYTES)

    def send(self, line: bytes) -> None:
        """Raises OSError where the client is gone."""
        self.sink.write(line + b"\n")
        self.sink.flush()


def claim_standard_streams() -> ProtocolStreams:
    """Take standard input and output for the protocol alone.

    From here on whoever prints, be it a plugin, a library in C or a child, prints to standard
    error, and whoever reads standard input finds its end.
    """
    sys.stdout.flush()
    wire = ProtocolStreams(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(nothing, 1)
    os.close(nothing)
    # Python took it for a file or a pipe, and would keep what is printed until the end.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    return wire
