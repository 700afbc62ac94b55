"""`rootle mcp --http`: the SDK's client over HTTP, and requests that must not get through."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from command import command_line, rootle
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_process import PATIENCE_S, text_of

_PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_HELLO = {
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
class Running:
    """A server, and what it said when it began."""

    process: subprocess.Popen[str]
    port: int
    said: str

    def post(
        self, body: object, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str]]:
        """The status and the headers of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        try:
            connection.request("POST", "/mcp", data, {**own, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()


@contextmanager
def served(folder: Path, *options: str, **variables: str) -> Iterator[Running]:
    process = subprocess.Popen(
        command_line("mcp", "--root", folder, *options),
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **variables},
    )
    assert process.stderr is not None
    try:
        said = ""
        while "serving MCP at" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        found = re.search(r"http://[^ ]*:(\d+)/mcp", said)
        assert found is not None
        yield Running(process, int(found[1]), said)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture(scope="module")
def server(folder: Path, variables: dict[str, str]) -> Iterator[Running]:
    with served(folder, "--http", "0", **variables) as running:
        yield running


@asynccontextmanager
async def client_at(port: int, token: str = "") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as connection,
        Client(
            streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=connection)
        ) as client,
    ):
        yield client


def test_clients_at_once_are_answered(server: Running) -> None:
    async def talk() -> str:
        async with client_at(server.port) as client:
            assert (await client.list_tools()).tools[0].name == "vectordb_search"
            answer = await client.call_tool("vectordb_search", {"query": "retry_backoff"})
            return text_of(answer)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(talk() for _ in range(8)))

    assert all(text.startswith("1. src/net/retry.py:") for text in asyncio.run(all_of_them()))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "192.168.1.7:{port}"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[half"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({}, 200),
    ],
)
def test_pages_of_others_do_not_get_through(
    server: Running, headers: dict[str, str], status: int
) -> None:
    headers = {name: value.format(port=server.port) for name, value in headers.items()}
    assert server.post(_HELLO, headers)[0] == status


def test_garbage_is_refused_and_others_are_answered(server: Running) -> None:
    assert server.post(b"hello")[0] == 400
    assert server.post(b"\xff\xfe")[0] == 400
    assert server.post(b"[" * 100_000)[0] == 400
    assert server.post(b'"' + b"x" * 5_000_000 + b'"')[0] == 413
    assert server.post(_HELLO, {"Content-Type": "text/plain"})[0] == 400
    assert server.post(_PING, {"Mcp-Session-Id": "nobody"})[0] == 404
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    assert server.post(_HELLO)[0] == 200


def test_a_client_that_vanishes_costs_nobody_anything(server: Running) -> None:
    _, headers = server.post(_HELLO)
    stream = socket.create_connection(("127.0.0.1", server.port))
    lines = ("GET /mcp HTTP/1.1", "Host: localhost", "Accept: text/event-stream")
    session = f"Mcp-Session-Id: {headers['mcp-session-id']}"
    stream.sendall("\r\n".join((*lines, session, "", "")).encode())
    assert b"200 OK" in stream.recv(1_000)
    stream.close()
    assert server.post(_HELLO)[0] == 200


def test_others_than_this_machine_need_the_token_that_is_made(folder: Path) -> None:
    with served(folder, "--http", "0.0.0.0:0") as server:
        found = re.search(r"the token of this server, until it ends, is (\S{40,})", server.said)
        assert found is not None
        check_token(server, found[1])
        # A name that was made to point here.
        assert server.post(_HELLO, {"Host": "evil.example"})[0] == 421


def test_the_token_of_the_configuration_holds_on_this_machine_too(folder: Path) -> None:
    command = ("--set", "mcpTokenCommand=echo secret-of-mine")
    with served(folder, "--http", "0", *command) as server:
        check_token(server, "secret-of-mine")
        assert "secret-of-mine" not in server.said


def check_token(server: Running, token: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": token}):
        status, answered = server.post(_HELLO, headers)
        assert (status, answered["www-authenticate"]) == (401, "Bearer")

    async def talk() -> None:
        async with client_at(server.port, token) as client:
            assert (await client.list_tools()).tools

    asyncio.run(talk())


def test_it_ends_when_it_is_told_to_whoever_is_connected(folder: Path) -> None:
    with served(folder, "--http", "0") as server:
        _, headers = server.post(_HELLO)
        with socket.create_connection(("127.0.0.1", server.port)) as stream:
            session = headers["mcp-session-id"]
            stream.sendall(
                f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                f"Mcp-Session-Id: {session}\r\n\r\n".encode()
            )
            assert b"200 OK" in stream.recv(1_000)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(timeout=30) == 0


def test_an_address_that_is_taken_is_said_in_a_line(folder: Path, server: Running) -> None:
    outcome = rootle("mcp", "--root", folder, "--http", str(server.port))
    assert outcome.code == 2
    assert f"cannot listen on 127.0.0.1 port {server.port}" in outcome.err
