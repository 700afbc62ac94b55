"""`rootle mcp --http` as a process, and requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import start_rootle
from forked_process import ForkedProcess
from polling import TIMEOUT_S

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}


@dataclass(frozen=True)
class RunningServer:
    """A server process, its port, and the messages that it printed at startup."""

    process: subprocess.Popen[bytes] | ForkedProcess
    port: int
    messages: str

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)

    def post(
        self, body: object, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str]]:
        """Send a request; return the status and the headers of the response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        try:
            connection.request("POST", "/mcp", data, {**own, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()


@contextmanager
def serving_http(
    folder: Path,
    *options: str,
    program: str | None = None,
    limits: Any = None,
    preloaded: bool = True,
    variables: Mapping[str, str] | None = None,
) -> Iterator[RunningServer]:
    """Start a server; its process calls `limits` before it runs the program.

    By default, the server is forked from a process that has imported the SDK.
    """
    process = start_rootle(
        "mcp",
        "--root",
        folder,
        *options,
        program=program,
        piped=(2,),
        environment={**os.environ, **(variables or {})},
        preloaded=preloaded,
        limits=limits,
    )
    assert process.stderr is not None
    try:
        messages = ""
        while "serving MCP at" not in messages:
            line = process.stderr.readline().decode()
            assert line, messages
            messages += line
        found = re.search(r"http://[^ ]*:(\d+)/mcp", messages)
        assert found is not None
        yield RunningServer(process, int(found[1]), messages)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
