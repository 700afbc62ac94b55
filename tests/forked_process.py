"""A command that a fork server has started, used like a `subprocess.Popen`."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO

INTEGER = struct.Struct("<q")  # the format of process IDs and wait statuses in pipes


class ForkedProcess:
    """A running command, with the attributes and methods of `subprocess.Popen` that tests use."""

    def __init__(self, pid: int, status_end: int, streams: Sequence[IO[bytes] | None]) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = streams
        self.returncode: int | None = None
        self._status_end = status_end

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._status_end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            (status,) = INTEGER.unpack(os.read(self._status_end, INTEGER.size))
            os.close(self._status_end)
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Close the input, and return the rest of the output once the command has ended."""
        if self.stdin is not None:
            self.stdin.close()
        with ThreadPoolExecutor() as readers:
            outputs = [readers.submit(_read_rest, stream) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()  # which also ends the readers
                raise
            out, errors = (output.result() for output in outputs)
        return out, errors


def _read_rest(stream: IO[bytes] | None) -> bytes:
    if stream is None or stream.closed:
        return b""
    with stream:
        return stream.read()
