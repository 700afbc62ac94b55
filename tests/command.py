"""Helpers that run rootle as a user does, as a command in another process."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fork_server import Command, ForkServer
from forked_process import ForkedProcess
from no_network import sitecustomize as _guard  # blocks the network when it is imported

import rootle as imported

_COMMAND = (sys.executable, "-m", "rootle")
_DROP_FROM_BOUNDING_SET = 24
_FILE_CAPABILITIES = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
# Variables that `conftest.py` sets in every test. The guard blocks the network in child processes.
# Child processes import the same rootle as this process, even if another one is installed.
_IMPORT_PATH = (os.path.dirname(_guard.__file__), str(Path(imported.__file__).parents[1]))
# LANGUAGE=C selects English messages, so that no translations are searched for.
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(_IMPORT_PATH), "LANGUAGE": "C"}
_fork_servers = [ForkServer({**os.environ, **ENVIRONMENT})]
# Importing the MCP SDK takes longer than all other imports, so only this server imports it.
_mcp_fork_server = ForkServer({**os.environ, **ENVIRONMENT}, ("server",))


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
    preloaded: bool | None = None,
    timeout_s: float = 120,
) -> Outcome:
    """Run a command and fail if it prints a traceback.

    `program` is Python code to run instead of the entry point. If `preloaded` is true, which is the
    default without a `program`, the command is forked from a process that has imported rootle. All
    other commands, and commands with `unprivileged`, `wrapper` or `limits`, run in a new
    interpreter.
    """
    data = stdin.encode() if isinstance(stdin, str) else stdin
    if preloaded is None:
        preloaded = program is None
    server = _server_for(arguments, os.environ)
    if preloaded and not (unprivileged or wrapper or limits) and server.can_run():
        words = [os.fspath(argument) for argument in arguments]
        process = server.run(Command(words, program, cwd, data, timeout_s))
    else:
        process = subprocess.run(
            [*wrapper, *command_line(*arguments, program=program)],
            cwd=cwd,
            input=data,
            capture_output=True,
            timeout=timeout_s,
            preexec_fn=_drop_capabilities if unprivileged else limits,
            # A limit on the file size would leave truncated bytecode in the source tree.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"} if limits else None,
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
    """Return the words of a command; see `rootle` for `program`."""
    start = _COMMAND if program is None else (sys.executable, "-c", program)
    return [*start, *(os.fspath(argument) for argument in arguments)]


def start_rootle(
    *arguments: str | Path,
    program: str | None = None,
    cwd: Path | None = None,
    piped: Sequence[int] = (1, 2),
    environment: Mapping[str, str] | None = None,
    preloaded: bool | None = None,
    limits: Any = None,
) -> subprocess.Popen[bytes] | ForkedProcess:
    """Start a command and return its process, with pipes for the standard streams `piped`.

    `program`, `preloaded` and `limits` have the same meaning as for `rootle`. `environment`
    replaces the variables of this process.
    """
    environment = os.environ if environment is None else environment
    if preloaded is None:
        preloaded = program is None
    server = _server_for(arguments, environment)
    if preloaded and not limits and server.can_run(environment):
        words = [os.fspath(argument) for argument in arguments]
        return server.start(Command(words, program, cwd), piped, environment)
    # A shell makes background jobs ignore Ctrl-C, and the children of a job inherit this setting.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    pipes = [subprocess.PIPE if number in piped else subprocess.DEVNULL for number in range(3)]
    return subprocess.Popen(
        command_line(*arguments, program=program),
        cwd=cwd,
        stdin=pipes[0],
        stdout=pipes[1],
        stderr=pipes[2],
        env=environment,
        preexec_fn=limits,
    )


def add_fork_server(**variables: str) -> None:
    """Add a server for commands with variables that the interpreter reads when it starts."""
    _fork_servers.append(ForkServer({**os.environ, **ENVIRONMENT, **variables}))


def _server_for(arguments: Sequence[str | Path], environment: Mapping[str, str]) -> ForkServer:
    if arguments[:1] == ("mcp",):
        return _mcp_fork_server
    return next((one for one in _fork_servers if one.can_run(environment)), _fork_servers[0])


def _drop_capabilities() -> None:
    """Make file permissions apply to root too."""
    if os.geteuid() != 0:
        return
    library = ctypes.CDLL(None, use_errno=True)
    for capability in _FILE_CAPABILITIES:
        library.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
