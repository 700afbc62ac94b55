"""Run commands in processes forked from one that has already imported rootle.

Imports take most of the time of a short command, and the tests run hundreds of commands. A forked
command has its own streams, environment, working directory and exit status. It differs from a new
interpreter in three ways: modules are already imported, no worker processes are started ahead of a
first index, and at exit the modules are not torn down, which would take longer than most commands.
Threads are joined and exit functions run as usual. Tests of these differences run the command in a
new interpreter (see `command.py`).

When run as a script, this module is the server. It reads one request per line, as JSON, from
standard input, and answers each with two integers: the process ID at once, and the wait status at
the end.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

_INTEGER = struct.Struct("<q")
# Packages to import completely, and single modules of packages with optional dependencies.
_IMPORTED = (
    *("agents", "cli", "config", "index", "indexing", "ingest", "memory", "rank", "search"),
    *("sources", "embed.factory", "embed.static"),
)
# The interpreter reads variables with these prefixes only at startup, so a forked process would
# ignore a change of their values.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "TZ", "OPENBLAS", "LD_")


@dataclass(frozen=True)
class Command:
    """The arguments of `rootle`, or a Python program with its arguments."""

    arguments: Sequence[str]
    program: str | None = None
    cwd: Path | None = None
    stdin: bytes = b""
    timeout_s: float = 120.0


class ForkServer:
    """A pool of server processes: one, unless several threads run commands at once."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def can_run(self) -> bool:
        """Return whether the variables that an interpreter reads at startup are unchanged."""
        return _read_at_start(os.environ) == _read_at_start(self._environment)

    def run(self, command: Command) -> subprocess.CompletedProcess[bytes]:
        """Run a command like `subprocess.run`; kill the command after its timeout."""
        with ExitStack() as stack:
            streams = [stack.enter_context(NamedTemporaryFile()) for _ in range(3)]
            streams[0].write(command.stdin)
            streams[0].flush()
            request = {
                "arguments": command.arguments,
                "program": command.program,
                "cwd": os.fspath(command.cwd or os.getcwd()),
                "environment": dict(os.environ),
                "streams": [stream.name for stream in streams],
            }
            with self._server() as server:
                status = _ask(server, request, command.timeout_s)
            out, errors = (stream.read() for stream in streams[1:])
        if status is None:
            raise subprocess.TimeoutExpired(command.arguments, command.timeout_s, out, errors)
        code = os.waitstatus_to_exitcode(status)
        return subprocess.CompletedProcess(command.arguments, code, out, errors)

    @contextmanager
    def _server(self) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:
            server = self._idle.pop() if self._idle else self._start()
        yield server
        with self._lock:
            self._idle.append(server)

    def _start(self) -> subprocess.Popen[bytes]:
        server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=self._environment,
            start_new_session=True,  # Ctrl-C then reaches only pytest, which closes the pipes
        )
        atexit.register(_stop, server)
        return server


def _read_at_start(environment: Any) -> dict[str, str]:
    return {name: environment[name] for name in environment if name.startswith(_READ_AT_START)}


def _ask(server: subprocess.Popen[bytes], request: dict[str, Any], timeout_s: float) -> int | None:
    """Return the wait status of a command, or None if it had to be killed."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request).encode() + b"\n")
    (process_id,) = _INTEGER.unpack(server.stdout.read(_INTEGER.size))
    in_time = bool(select.select([server.stdout], [], [], timeout_s)[0])
    if not in_time:
        try:
            os.kill(process_id, signal.SIGKILL)
        except ProcessLookupError:  # the command has just ended, and the server has reaped it
            in_time = True
    (status,) = _INTEGER.unpack(server.stdout.read(_INTEGER.size))
    return status if in_time else None


def _stop(server: subprocess.Popen[bytes]) -> None:
    with server:  # closes the standard input of the server, which makes the server exit
        pass


def _serve() -> dict[str, Any] | None:
    """Fork a child for each request. Return the request in the child, and None in the server."""
    _import_commands()
    gc.freeze()  # a garbage collection in a child would copy every page of memory
    requests, replies = os.fdopen(os.dup(0), "rb"), os.dup(1)
    for line in requests:
        process_id = os.fork()
        if process_id == 0:
            requests.close()
            os.close(replies)
            return dict(json.loads(line))
        os.write(replies, _INTEGER.pack(process_id))
        os.write(replies, _INTEGER.pack(os.waitpid(process_id, 0)[1]))
    return None


def _import_commands() -> None:
    """Import the modules that the commands use, but no optional dependencies."""
    import filelock  # noqa: F401
    import platformdirs  # noqa: F401

    from rootle.embed.static import StaticEmbedder
    from rootle.ingest.workers.worker_process import PrestartedWorkers

    for name in _IMPORTED:
        package = importlib.import_module(f"rootle.{name}")
        within = getattr(package, "__path__", [])
        for module in pkgutil.walk_packages(within, f"{package.__name__}."):
            importlib.import_module(module.name)
    StaticEmbedder()  # reads the vocabulary, which is then cached
    PrestartedWorkers.start = lambda self: None  # type: ignore[method-assign]


def _run(request: dict[str, Any]) -> None:
    """Run the requested command in this process."""
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_APPEND)
    for number, (path, mode) in enumerate(zip(request["streams"], modes, strict=True)):
        opened = os.open(path, mode)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.path[0] = request["cwd"]
    program = request["program"]
    sys.argv = ["rootle" if program is None else "-c", *request["arguments"]]
    try:
        exec(program or "from rootle.cli.main import entry\nentry()", {"__name__": "__main__"})
    except SystemExit as exit_request:
        if not isinstance(exit_request.code, int | None):
            raise
        _exit(exit_request.code or 0)
    _exit(0)


def _exit(code: int) -> None:
    """End the process like the interpreter does, but without tearing down modules.

    The first two steps have no public function. `threading._shutdown` first stops the workers of
    thread pools, which wait for work, and then waits for all threads.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    if (_request := _serve()) is not None:
        _run(_request)
