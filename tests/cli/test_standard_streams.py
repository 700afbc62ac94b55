"""Commands whose streams are closed or full, and commands that are interrupted."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from command import command_line, rootle, start_rootle
from polling import TIMEOUT_S

pytestmark = pytest.mark.slow

COMMANDS = (
    ("--version",),
    ("--help",),
    ("search", "retry_backoff"),
    ("search", "retry_backoff", "--json"),
    ("index",),
    ("status", "--json"),
    ("config", "show"),
    ("memory", "list"),
)
# Prints "ready" when the interpreter has started, before the command imports its modules.
_ANNOUNCED = """
import rootle.cli.main as cli
main = cli.main
def announce():
    print("ready", flush=True)
    return main()
cli.main = announce
cli.entry()
"""

_INTERRUPTED = (
    b"rootle: interrupted; an existing index is still usable\n",
    b"rootle: interrupted\n",
)
# The interrupt arrives during a destructor, in which Python ignores exceptions.
_INTERRUPTED_DESTRUCTOR = """
import os, signal, time
import rootle.cli.main as cli
main = cli.main
class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
def interrupt():
    Interrupted()
    time.sleep(600)  # a command that takes long
    return main()
cli.main = interrupt
cli.entry()
"""


MEMORY_NOTES = ("rootle: memory: no answer within", "rootle: degraded: memory ")


def run(redirections: str, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = ("sh", "-c", f'"$@" {redirections}', "sh", *command_line(*arguments))
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("redirection", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
)
def test_output_that_cannot_be_written_is_reported(
    command: tuple[str, ...],
    redirection: str,
    reason: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rootle("memory", "add", "The user likes tabs", cwd=repository)
    rootle("index", cwd=repository)
    for unbuffered in ("", "1"):
        monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
        done = run(redirection, *command, cwd=repository)
        assert done.returncode == 2
        # On a busy machine, memories may not be found in time. A note then says so.
        *notes, message = done.stderr.splitlines()
        assert message == f"rootle: cannot write to standard output: {reason}"
        assert all(note.startswith(MEMORY_NOTES) for note in notes), notes


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "2>/dev/full <&-", "<&-"])
def test_messages_that_cannot_be_written_change_nothing(redirection: str, repository: Path) -> None:
    found = run(redirection, "search", "retry_backoff", "--json", cwd=repository)
    assert (found.returncode, found.stderr) == (0, "")
    assert "src/net/retry.py" in found.stdout
    refused = run(redirection, "search", "-n", "0", "retry_backoff", cwd=repository)
    assert (refused.returncode, refused.stdout) == (2, "")
    usage = run(redirection, "dance", cwd=repository)
    assert (usage.returncode, usage.stdout) == (2, "")


def test_all_streams_can_be_closed(repository: Path) -> None:
    done = run("<&- >&- 2>&-", "index", cwd=repository)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    assert rootle("search", "retry_backoff", "--json", cwd=repository).paths


def test_a_server_without_streams_ends(repository: Path) -> None:
    assert run("<&- >&- 2>&-", "mcp", cwd=repository).returncode == 0


@pytest.mark.parametrize("delay_ms", [0, 5, 10, 20, 40, 80, 120, 160, 200, 300, 400, 600])
def test_an_interrupted_command_prints_one_line(delay_ms: int, repository: Path) -> None:
    process = start_rootle("search", "retry_backoff", program=_ANNOUNCED, cwd=repository)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(delay_ms / 1_000)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIMEOUT_S)
    if process.returncode == 130:
        assert errors in _INTERRUPTED
    else:  # the command had ended already, or the interpreter was shutting down
        assert process.returncode in (0, -signal.SIGINT)
        assert errors == b""


def test_an_interrupt_during_a_destructor_is_not_lost(repository: Path) -> None:
    words = ("search", "retry_backoff")
    process = start_rootle(*words, program=_INTERRUPTED_DESTRUCTOR, cwd=repository)
    output, errors = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, output) == (130, b"")
    assert errors in _INTERRUPTED
