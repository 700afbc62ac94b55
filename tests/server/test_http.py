"""`rootle mcp --http`: the SDK's client over HTTP, and requests that must be refused."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from command import rootle
from http_process import HELLO, RunningServer, serving_http
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_process import text_of
from polling import TIMEOUT_S
from sample import many_files, write_tree

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(folder: Path, variables: dict[str, str]) -> Iterator[RunningServer]:
    """Return a server that a new interpreter runs, as in normal use."""
    with serving_http(folder, "--http", "0", preloaded=False, variables=variables) as running:
        yield running


@asynccontextmanager
async def client_at(port: int, token: str = "") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S) as connection,
        Client(
            streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=connection)
        ) as client,
    ):
        yield client


def test_concurrent_clients_are_answered(server: RunningServer) -> None:
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
def test_requests_from_other_hosts_and_pages_are_refused(
    server: RunningServer, headers: dict[str, str], status: int
) -> None:
    headers = {name: value.format(port=server.port) for name, value in headers.items()}
    assert server.post(HELLO, headers)[0] == status


def test_malformed_requests_are_refused(server: RunningServer) -> None:
    assert server.post(b"hello")[0] == 400
    assert server.post(b"\xff\xfe")[0] == 400
    assert server.post(b"[" * 100_000)[0] == 400
    assert server.post(b'"' + b"x" * 5_000_000 + b'"')[0] == 413
    assert server.post(HELLO, {"Content-Type": "text/plain"})[0] == 400
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    assert server.post(HELLO)[0] == 200


@pytest.mark.parametrize("request_id", [1.0, 1.5, None, True, {}, [1]])
def test_a_request_with_an_invalid_id_is_refused(server: RunningServer, request_id: object) -> None:
    assert server.post({**HELLO, "id": request_id})[0] == 400
    assert server.post(HELLO)[0] == 200


def test_a_client_that_disconnects_does_not_affect_others(server: RunningServer) -> None:
    with server.connect() as stream:
        call = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
        stream.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Accept: application/json, text/event-stream\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(call), call)
        )
    assert server.post(HELLO)[0] == 200


def test_requests_for_a_stream_are_refused(server: RunningServer) -> None:
    with server.connect() as stream:
        stream.sendall(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stream.recv(1_000).startswith(b"HTTP/1.1 405 ")


def test_progress_is_reported_over_http(tmp_path: Path) -> None:
    """A client receives notifications while it waits for the response."""
    root = write_tree(tmp_path / "large", many_files(300, functions=20))
    reports: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert message == "building the index"
        reports.append(progress)

    async def talk(port: int) -> None:
        async with client_at(port) as client:
            question = {"query": "flush the ledger"}
            await client.call_tool("vectordb_search", question, progress_callback=on_progress)

    with serving_http(root, "--http", "0") as server:
        asyncio.run(talk(server.port))
    assert reports


def test_other_machines_need_the_generated_token(folder: Path) -> None:
    with serving_http(folder, "--http", "0.0.0.0:0") as server:
        found = re.search(
            r"the token of this server, valid until it stops, is (\S{40,})", server.messages
        )
        assert found is not None
        check_token(server, found[1])
        # A name that an attacker points to this address (DNS rebinding).
        assert server.post(HELLO, {"Host": "evil.example"})[0] == 421


def test_a_configured_token_is_required_on_this_machine_too(folder: Path) -> None:
    command = ("--set", "mcpTokenCommand=echo secret-of-mine")
    with serving_http(folder, "--http", "0", *command) as server:
        check_token(server, "secret-of-mine")
        assert "secret-of-mine" not in server.messages


def check_token(server: RunningServer, token: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": token}):
        status, answered = server.post(HELLO, headers)
        assert (status, answered["www-authenticate"]) == (401, "Bearer")

    async def talk() -> None:
        async with client_at(server.port, token) as client:
            assert (await client.list_tools()).tools

    asyncio.run(talk())


def test_sigterm_stops_the_server_despite_open_connections(folder: Path) -> None:
    with serving_http(folder, "--http", "0") as server, server.connect() as stream:
        stream.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
        assert server.post(HELLO)[0] == 200
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=30) == 0


def test_an_address_in_use_is_a_one_line_error(folder: Path, server: RunningServer) -> None:
    outcome = rootle("mcp", "--root", folder, "--http", str(server.port))
    assert outcome.code == 2
    assert f"cannot listen on 127.0.0.1 port {server.port}" in outcome.err
