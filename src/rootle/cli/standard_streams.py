"""Handle standard streams that are closed, cannot be written, or are no longer read."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Output(io.FileIO):
    """A file that records the first error of a write. Some callers ignore such errors."""

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failure = self.failure or error
            raise


def prepare_streams() -> None:
    """Open the standard streams that the parent has closed, and record errors of the output.

    If a stream stayed closed, the next file that is opened, such as a database, would get its file
    descriptor, and output would be written to this file. A standard input that was
    closed becomes empty. Writing to a standard output that was closed fails, because the output
    would be lost. Messages to a standard error that was closed are discarded.
    """
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            # `os.open` returns the lowest free number, which is `number`
            os.open(os.devnull, flags)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    sys.stdout = _open_output(sys.stdout)


def _open_output(before: TextIO | None) -> TextIO:
    file = _Output(1, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        before.encoding if before else None,
        before.errors if before else None,
        line_buffering=file.isatty() or getattr(before, "write_through", False),
    )


def output_failure() -> OSError | None:
    """Return the first error of a write to standard output, or None if there was none."""
    failure = getattr(getattr(sys.stdout.buffer, "raw", None), "failure", None)
    return failure if isinstance(failure, OSError) else None


def discard_unwritten(stream: TextIO) -> None:
    """Discard output that cannot be written, as Python would otherwise print an error at exit."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
