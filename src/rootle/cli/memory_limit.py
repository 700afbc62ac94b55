"""Report that a memory limit is too low, in one line instead of a traceback or a crash.

Native libraries end the process if they cannot allocate memory. If there is a limit on the address
space, the command therefore runs in a child process, and the parent process reports a failure.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import IO, Final

# The lowest accepted limit. With a lower one, loading the libraries could fail: indexing a small
# folder takes 160 to 200 MB of address space.
_MIN_BYTES: Final = 192 << 20
_FAILURE: Final = 2
_PARENT_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of `prctl`
# The start of a traceback, or of the last message that OpenBLAS or a Rust library prints. These
# patterns are not compiled here, because most commands do not use them.
_CRASH: Final = (
    rb"Traceback \(most recent|OpenBLAS|memory allocation of|Fatal Python error|thread '.*panicked|"
    rb"Exception ignored|Exception in thread"
)
_NO_MEMORY: Final = (
    rb"(?i)MemoryError|cannot allocate memory|memory allocation|out of memory|can't start new "
    rb"thread|failed to map segment|resource temporarily unavailable"
)


def supervise_if_limited() -> None:
    """Fork if there is a memory limit: return in the child process, and supervise it in the parent.

    Return at once if there is no limit. End the process with an error if the limit is too low to
    run a command.
    """
    limit = _read_limit()
    if limit is None:
        return
    if limit < _MIN_BYTES:
        print(_explain(limit), file=sys.stderr)
        sys.exit(_FAILURE)
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        os._exit(_supervise(child, reader, limit))
    os.close(reader)
    os.dup2(writer, 2)
    os.close(writer)
    _end_with_parent()


def _read_limit() -> int | None:
    """Return the limit of the address space in bytes; None if there is none."""
    if os.name != "posix":
        return None
    import resource

    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


def _explain(limit: int) -> str:
    return (
        f"rootle: not enough memory: this process is limited to {limit >> 20} MB (ulimit -v or "
        "-d); raise the limit"
    )


def _supervise(child: int, errors: int, limit: int) -> int:
    """Forward messages and signals until the child has ended; return the exit code."""
    # The terminal sends Ctrl-C to the child as well.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    with open(errors, "rb") as lines:
        crash_report = _forward(lines)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0 and (re.search(_NO_MEMORY, crash_report) or _has_crashed(code)):
        os.write(2, f"{_explain(limit)}\n".encode())
        return _FAILURE
    os.write(2, crash_report)
    return code if code >= 0 else 128 - code


def _has_crashed(code: int) -> bool:
    return code in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS)


def _forward(lines: IO[bytes]) -> bytes:
    """Copy messages to standard error up to the first sign of a crash; return the rest."""
    for line in iter(lines.readline, b""):
        if re.match(_CRASH, line):
            return line + lines.read()
        os.write(2, line)
    return b""


def _end_with_parent() -> None:
    """Let the system kill this process when its parent is killed."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
