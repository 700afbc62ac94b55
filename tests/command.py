"""Run the `rootle` command as a separate process."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COMMAND = (sys.executable, "-m", "rootle")
_DROP_FROM_BOUNDING_SET = 24
_PRIVILEGES = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def paths(self) -> list[str]:
        return [result["filePath"] for result in self.data["results"]]


def rootle(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: str | bytes = b"",
    unprivileged: bool = False,
    program: str | None = None,
    wrapper: Sequence[str] = (),
    limits: Any = None,
) -> Outcome:
    """Run a command to its end, and check that it printed no traceback."""
    process = subprocess.run(
        [*wrapper, *command_line(*arguments, program=program)],
        cwd=cwd,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=120,
        preexec_fn=_drop_privileges if unprivileged else limits,
    )
    outcome = Outcome(
        process.returncode,
        process.stdout.decode("utf-8", "surrogateescape"),
        process.stderr.decode("utf-8", "surrogateescape"),
    )
    assert "Traceback" not in outcome.err, outcome.err
    assert "panicked at" not in outcome.err, outcome.err
    return outcome


def command_line(*arguments: str | Path, program: str | None = None) -> list[str]:
    """Return the words of a command; `program` is Python code instead of the entry point."""
    start = _COMMAND if program is None else (sys.executable, "-c", program)
    return [*start, *(os.fspath(argument) for argument in arguments)]


def start_rootle(
    *arguments: str | Path, program: str | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start a command; the caller reads its output."""
    # Tests that a shell runs in the background ignore Ctrl-C, and child processes inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        command_line(*arguments, program=program),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _drop_privileges() -> None:
    """Drop the privileges that let root ignore the permissions of files."""
    if os.geteuid() != 0:
        return
    library = ctypes.CDLL(None, use_errno=True)
    for privilege in _PRIVILEGES:
        library.prctl(_DROP_FROM_BOUNDING_SET, privilege, 0, 0, 0)
