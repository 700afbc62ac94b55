"""A memory limit that is too low is reported in one line."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import command_line, rootle
from mcp_process import is_alive
from polling import wait_until

pytestmark = pytest.mark.slow

_MB = 1 << 20
# Runs the real entry point with a command that loads the libraries and then runs `statements`.
_ENDS = """
import os, signal, sys, threading
import rootle.cli.main as cli
def run(words):
    {statements}
    return 0
cli._run = run
cli.entry()
"""


def _limit_to(megabytes: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MB, megabytes * _MB))

    return limit


@pytest.mark.parametrize("command", ["index", "search"])
@pytest.mark.parametrize("megabytes", [20, 60, 100, 140, 180, 220, 300, 4000])
def test_a_command_with_a_memory_limit_succeeds_or_reports_it_in_one_line(
    command: str, megabytes: int, repository: Path, tmp_path: Path
) -> None:
    words = ("retry_backoff",) if command == "search" else ()
    index = str(tmp_path / "index")
    limits = _limit_to(megabytes)
    outcome = rootle(command, *words, "--index-dir", index, cwd=repository, limits=limits)
    if megabytes == 4000:
        assert (outcome.code, outcome.err) == (0, "")
    if outcome.code == 0:
        assert "retry.py" in outcome.out or "9 files" in outcome.out
    else:
        assert outcome.code == 2
        assert outcome.err.startswith("rootle: "), outcome.err
        assert len(outcome.err.splitlines()) == 1, outcome.err
    if megabytes < 190:
        assert "raise the limit" in outcome.err


@pytest.mark.parametrize(
    "statements",
    [
        "raise MemoryError",
        "bytearray(10**12)",
        "os.write(2, b'memory allocation of 64 bytes failed\\n'); os.abort()",
        "os.write(2, b'OpenBLAS error: Memory allocation still failed\\n'); os._exit(1)",
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "while True: threading.Thread(target=threading.Event().wait, daemon=True).start()",
    ],
)
def test_a_crash_under_a_memory_limit_is_reported_in_one_line(statements: str) -> None:
    outcome = rootle("status", program=_ENDS.format(statements=statements), limits=_limit_to(900))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "rootle: not enough memory: this process is limited to 900 MB (ulimit -v or -d); "
        "raise the limit\n"
    )


def test_messages_output_and_exit_codes_are_passed_on() -> None:
    statements = "print('out'); print('message', file=sys.stderr); return 1"
    outcome = rootle("status", program=_ENDS.format(statements=statements), limits=_limit_to(900))
    assert (outcome.code, outcome.out, outcome.err) == (1, "out\n", "message\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_under_a_memory_limit_ends_with_the_process_that_was_started(
    number: signal.Signals,
) -> None:
    statements = "print(os.getpid(), flush=True); threading.Event().wait()"
    process = subprocess.Popen(
        command_line("status", program=_ENDS.format(statements=statements)),
        stdout=subprocess.PIPE,
        preexec_fn=_limit_to(900),
    )
    with process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert child != process.pid
        os.kill(process.pid, number)
        wait_until(lambda: not is_alive(child), "the command ends")
        process.wait()


def test_without_a_memory_limit_a_command_runs_in_the_process_that_was_started() -> None:
    program = _ENDS.format(statements="print(os.getpid(), flush=True)")
    process = subprocess.Popen(
        [sys.executable, "-c", program, "status"], stdout=subprocess.PIPE, text=True
    )
    out, _ = process.communicate()
    assert int(out) == process.pid
