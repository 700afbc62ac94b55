"""Run commands in processes forked from one that has already imported rootle.

Imports take most of the time of a short command, and the tests run hundreds of commands. A forked
command has its own streams, environment, working directory and exit status. It differs from a new
interpreter in three ways: modules are already imported, no worker processes are started ahead of a
first index, and at exit the modules are not torn down, which would take longer than most commands.
Threads are joined and exit functions run as usual. Tests of these differences run the command in a
new interpreter (see `command.py`).

When run as a script, this module is the server. It reads one request per line, as JSON, from
standard input, and answers each with two integers: the process ID at once, and the wait status at
the end. If the request names a pipe for the status, the answer is only the process ID, and the
server does not wait: a process between the server and the command writes the status to that pipe.
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
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import IO, Any

from forked_process import INTEGER, ForkedProcess

# Packages to import completely, and single modules of packages with optional dependencies.
_IMPORTED = (
    *("agents", "app", "cli", "config", "federation", "history", "index", "indexing", "ingest"),
    *("links", "memory", "provenance", "rank", "search", "serialization", "sources", "text"),
    *("embed.factory", "embed.static", "web.main_content_to_markdown"),
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
    """A pool of server processes: one, unless several threads run commands at once.

    The servers also import the `packages` of rootle, with their optional dependencies.
    """

    def __init__(self, environment: dict[str, str], packages: Sequence[str] = ()) -> None:
        self._environment = environment
        self._packages = packages
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def can_run(self, environment: Mapping[str, str] = os.environ) -> bool:
        """Return whether the variables that an interpreter reads at startup are unchanged."""
        return _read_at_start(environment) == _read_at_start(self._environment)

    def run(self, command: Command) -> subprocess.CompletedProcess[bytes]:
        """Run a command like `subprocess.run`; kill the command after its timeout."""
        with ExitStack() as stack:
            streams = [stack.enter_context(NamedTemporaryFile()) for _ in range(3)]
            streams[0].write(command.stdin)
            streams[0].flush()
            request = _request(command, [stream.name for stream in streams], os.environ)
            with self._server() as server:
                status = _ask(server, request, command.timeout_s)
            out, errors = (stream.read() for stream in streams[1:])
        if status is None:
            raise subprocess.TimeoutExpired(command.arguments, command.timeout_s, out, errors)
        code = os.waitstatus_to_exitcode(status)
        return subprocess.CompletedProcess(command.arguments, code, out, errors)

    def start(
        self, command: Command, piped: Sequence[int], environment: Mapping[str, str]
    ) -> ForkedProcess:
        """Start a command like `subprocess.Popen`, with pipes for the standard streams `piped`."""
        with TemporaryDirectory() as folder:
            pipes = {number: f"{folder}/{number}" for number in piped}
            status = f"{folder}/status"
            for path in (*pipes.values(), status):
                os.mkfifo(path)
            streams = [pipes.get(number, os.devnull) for number in range(3)]
            status_end = os.open(status, os.O_RDONLY | os.O_NONBLOCK)
            request = {**_request(command, streams, environment), "status": status}
            with self._server() as server:
                process_id = _send(server, request)
            # Each call waits until the command opens the other end, which it does in this order.
            ends = [_open_pipe(number, pipes.get(number)) for number in range(3)]
        return ForkedProcess(process_id, status_end, ends)

    @contextmanager
    def _server(self) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:
            server = self._idle.pop() if self._idle else self._start()
        yield server
        with self._lock:
            self._idle.append(server)

    def _start(self) -> subprocess.Popen[bytes]:
        server = subprocess.Popen(
            [sys.executable, __file__, *self._packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=self._environment,
            start_new_session=True,  # Ctrl-C then reaches only pytest, which closes the pipes
        )
        atexit.register(_stop, server)
        return server


def _open_pipe(number: int, path: str | None) -> IO[bytes] | None:
    return None if path is None else open(path, "rb" if number else "wb")


def _request(
    command: Command, streams: Sequence[str], environment: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "arguments": command.arguments,
        "program": command.program,
        "cwd": os.fspath(command.cwd or os.getcwd()),
        "environment": dict(environment),
        "streams": streams,
    }


def _read_at_start(environment: Any) -> dict[str, str]:
    return {name: environment[name] for name in environment if name.startswith(_READ_AT_START)}


def _ask(server: subprocess.Popen[bytes], request: dict[str, Any], timeout_s: float) -> int | None:
    """Return the wait status of a command, or None if it had to be killed."""
    process_id = _send(server, request)
    assert server.stdout is not None
    in_time = bool(select.select([server.stdout], [], [], timeout_s)[0])
    if not in_time:
        try:
            os.kill(process_id, signal.SIGKILL)
        except ProcessLookupError:  # the command has just ended, and the server has reaped it
            in_time = True
    (status,) = INTEGER.unpack(server.stdout.read(INTEGER.size))
    return status if in_time else None


def _send(server: subprocess.Popen[bytes], request: dict[str, Any]) -> int:
    """Return the process ID of the command that a server starts."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request).encode() + b"\n")
    process_id: int = INTEGER.unpack(server.stdout.read(INTEGER.size))[0]
    return process_id


def _stop(server: subprocess.Popen[bytes]) -> None:
    with server:  # closes the standard input of the server, which makes the server exit
        pass


def _serve() -> dict[str, Any] | None:
    """Fork a child for each request. Return the request in the child, and None in the server."""
    _import_commands()
    gc.freeze()  # a garbage collection in a child would copy every page of memory
    requests, replies = os.fdopen(os.dup(0), "rb"), os.dup(1)
    supervisors: list[int] = []
    for line in requests:
        request = dict(json.loads(line))
        process_id = os.fork()
        if process_id == 0:
            requests.close()
            if "status" in request:
                _supervise(request["status"], replies)
            os.close(replies)
            return request
        if "status" in request:
            supervisors.append(process_id)
        else:
            os.write(replies, INTEGER.pack(process_id))
            os.write(replies, INTEGER.pack(os.waitpid(process_id, 0)[1]))
        supervisors = [one for one in supervisors if os.waitpid(one, os.WNOHANG) == (0, 0)]
    return None


def _supervise(status_path: str, replies: int) -> None:
    """Fork a command, and return only in its process.

    This process writes the wait status of the command, and exits.
    """
    status_end = os.open(status_path, os.O_WRONLY)
    process_id = os.fork()
    if process_id == 0:
        os.close(status_end)
        # A shell makes background jobs ignore Ctrl-C, and the server may be in such a job.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return
    os.write(replies, INTEGER.pack(process_id))
    os.write(status_end, INTEGER.pack(os.waitpid(process_id, 0)[1]))
    os._exit(0)


def _import_commands() -> None:
    """Import the modules that the commands use.

    Packages with optional dependencies are imported completely only if the arguments name them.
    """
    import filelock  # noqa: F401
    import platformdirs  # noqa: F401

    from rootle.embed.static import StaticEmbedder
    from rootle.ingest.workers.worker_process import PrestartedWorkers
    from rootle.syntax.grammars import load_grammar

    for name in (*_IMPORTED, *sys.argv[1:]):
        package = importlib.import_module(f"rootle.{name}")
        within = getattr(package, "__path__", [])
        for module in pkgutil.walk_packages(within, f"{package.__name__}."):
            importlib.import_module(module.name)
    StaticEmbedder()  # reads the vocabulary, which is then cached
    load_grammar("python")  # the language of most files in tests
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
    if (_found := _serve()) is not None:
        _run(_found)
