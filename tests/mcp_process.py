"""`rootle mcp` as a process, controlled by the client of the SDK or by lines on its pipes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from command import command_line, start_rootle
from forked_process import ForkedProcess
from mcp import Client, StdioServerParameters, stdio_client
from polling import TIMEOUT_S

# Runs a server with tools that print, fail or hang.
MISBEHAVING_TOOLS = """
import os, subprocess, sys, time
import rootle.server.runner as serving
from rootle.errors import QueryError
from rootle.tools.tool import Answer, Parameter, Tool

def noisy(text):
    print("printed by Python")
    os.write(1, b"written by C\\n")
    subprocess.run(["echo", "echoed by a child"])
    subprocess.run(["cat"])  # would swallow the next request
    return Answer(f"heard {text}", {"heard": text})

def broken(text):
    raise KeyError(text)

def refusing(text):
    raise QueryError("ask something else")

def hanging(text):
    time.sleep(3600)

def tool(run):
    text = Parameter("text", "Any.")
    execute = lambda arguments: run(arguments["text"])
    return Tool(run.__name__, run.__name__, "A test.", (text,), execute)

serving.create_tools = lambda app, shown: tuple(map(tool, (noisy, broken, refusing, hanging)))
from rootle.cli.main import entry
entry()
"""


@asynccontextmanager
async def client_of(
    root: Path,
    *,
    errors: Path | None = None,
    program: str | None = None,
    started_in: Path | None = None,
    **variables: str,
) -> AsyncIterator[Client]:
    """Yield the SDK's client, connected to a server that it starts.

    The server gets `--root`, unless `started_in` is given: it then starts in that folder.
    """
    named = ("--root", root) if started_in is None else ()
    command, *arguments = command_line("mcp", *named, program=program)
    server = StdioServerParameters(
        command=command, args=arguments, env={**os.environ, **variables}, cwd=started_in or root
    )
    with open(errors or os.devnull, "w") as log:
        async with Client(stdio_client(server, errlog=log), read_timeout_seconds=TIMEOUT_S) as it:
            yield it


class Lines:
    """A server process with methods to send and receive lines."""

    def __init__(self, process: subprocess.Popen[bytes] | ForkedProcess) -> None:
        self.process = process

    def send(self, data: bytes | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        line = data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def ask(self, method: str, number: int = 1, **params: Any) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.receive()

    def initialize(self) -> None:
        client = {"name": "a test", "version": "1"}
        hello = self.ask(
            "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client
        )
        assert hello["result"]["serverInfo"]["name"] == "rootle"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


@contextmanager
def lines_of(
    root: Path | None,
    *options: str,
    program: str | None = None,
    started_in: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Lines]:
    """Start a server with `--root`, or without it if `root` is None.

    `variables` are added to its environment. The server is forked from a process that has imported
    the SDK; `client_of` starts a new interpreter.
    """
    named = () if root is None else ("--root", root)
    process = start_rootle(
        *("mcp", *named, *options),
        program=program,
        cwd=started_in or root,
        piped=(0, 1, 2),
        environment={**os.environ, **(variables or {})},
        preloaded=True,
    )
    try:
        yield Lines(process)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]


def is_alive(process_id: int) -> bool:
    """Return whether a process is running and not a zombie."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def children_of(process_id: int) -> list[int]:
    tasks = Path(f"/proc/{process_id}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


class Session:
    """A client with blocking methods, which several threads can call at the same time."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def tools(self) -> list[Any]:
        return list(self._portal.call(self._client.list_tools).tools)

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return self._portal.call(self._client.call_tool, tool, arguments)

    def call_all(self, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
        async def gather() -> list[Any]:
            return await asyncio.gather(*(self._client.call_tool(*call) for call in calls))

        return self._portal.call(gather)


@contextmanager
def session_of(root: Path, **options: Any) -> Iterator[Session]:
    """Yield a session; `options` are those of `client_of`."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(client_of(root, **options)) as client,
    ):
        yield Session(portal, client)


def text_of(result: Any) -> str:
    text: str = result.content[0].text
    return text
