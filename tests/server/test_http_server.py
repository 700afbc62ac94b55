"""Limits of the HTTP server, against clients that need no token to attack it."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from http_process import HELLO, RunningServer, serving_http
from polling import TIMEOUT_S, wait_until

pytestmark = pytest.mark.slow

# The timeouts are shorter here, so that the tests do not take a minute.
_IMPATIENT = """
import h11
import rootle.server.http_server as http_server
http_server._TIMEOUTS_S = {h11.IDLE: 0.5, h11.SEND_BODY: 0.5}
http_server._READ_TIMEOUT_S = 0.5
from rootle.cli.main import entry
entry()
"""
# With a small buffer, the system stores only a few responses that the client does not read.
_SMALL_BUFFERS = (
    """
import socket
from rootle.server.http_server import LimitedHttpProtocol
connection_made = LimitedHttpProtocol.connection_made
def limit_buffer(self, transport):
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    connection_made(self, transport)
LimitedHttpProtocol.connection_made = limit_buffer
"""
    + _IMPATIENT
)
_LOG_FLOOD = """
import logging
from rootle.server import mcp
run = mcp._run
def run_and_log(tool, text):
    for number in range(50_000):
        logging.getLogger("rootle.server").error("message %d of a plugin that logs a lot", number)
    return run(tool, text)
mcp._run = run_and_log
from rootle.cli.main import entry
entry()
"""
_START = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
_BODY = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
_LIST_TOOLS = (
    _START
    + b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    + b"Content-Length: %d\r\n\r\n" % len(_BODY)
    + _BODY
)
_TOKEN = ("--set", "mcpTokenCommand=echo secret")


@pytest.fixture(scope="module")
def impatient(folder: Path, variables: dict[str, str]) -> Iterator[RunningServer]:
    with serving_http(
        folder, "--http", "0", *_TOKEN, program=_IMPATIENT, variables=variables
    ) as running:
        yield running


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(_START, id="half of the headers"),
        pytest.param(_START + b"Content-Length: 100\r\n\r\n{", id="a part of a body"),
        pytest.param(_START + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", id="a part of a chunk"),
        pytest.param(
            _START + b"Content-Length: 0\r\n\r\n" + _START, id="a request and a part of the next"
        ),
    ],
)
def test_a_request_that_does_not_arrive_is_ended(impatient: RunningServer, part: bytes) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(impatient.connect()) for _ in range(300)]
        for stream in streams:
            stream.sendall(part)
        for stream in streams:
            while stream.recv(65_536):  # ends when the server closes the connection
                pass
    assert impatient.post(HELLO)[0] == 401


def test_a_client_that_reads_no_response_is_disconnected(folder: Path) -> None:
    with (
        serving_http(folder, "--http", "0", program=_SMALL_BUFFERS) as server,
        socket.socket() as stream,
    ):
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        stream.connect(("127.0.0.1", server.port))
        stream.sendall(_LIST_TOOLS * 100)

        def is_closed() -> bool:
            try:
                return stream.send(b"P") == 0
            except ConnectionError:
                return True

        wait_until(is_closed, "the server closes the connection")
        assert server.post(HELLO)[0] == 200


def test_a_client_that_does_not_wait_for_responses_is_disconnected(folder: Path) -> None:
    sent = 0
    with serving_http(folder, "--http", "0") as server, server.connect() as stream:
        with suppress(ConnectionError):
            while sent < 100_000_000:
                stream.sendall(_LIST_TOOLS * 1_000)
                sent += 1_000 * len(_LIST_TOOLS)
        assert sent < 50_000_000  # this includes bytes in the buffers of the system
        assert server.post(HELLO)[0] == 200


def test_a_refusal_ends_the_connection(impatient: RunningServer) -> None:
    with impatient.connect() as stream:
        stream.sendall((_START + b"Content-Length: 1\r\n\r\n{") * 1_000)
        received = b""
        with suppress(ConnectionError):
            while part := stream.recv(65_536):
                received += part
        assert received.count(b"HTTP/1.1 401") == 1


def test_a_body_that_does_not_arrive_is_not_reported_as_a_bug(folder: Path) -> None:
    """The client disconnects first, and then the server closes another connection."""
    head = _START + b"Content-Type: application/json\r\nContent-Length: 500\r\n"
    head += b"Accept: application/json, text/event-stream\r\n\r\n{"
    with serving_http(folder, "--http", "0", program=_IMPATIENT) as server:
        with server.connect() as stream:
            stream.sendall(head)
        with server.connect() as stream:
            stream.sendall(head)
            while stream.recv(65_536):  # ends when the server closes the connection
                pass
        assert server.post(HELLO)[0] == 200
        server.process.terminate()
        errors = server.process.communicate(timeout=TIMEOUT_S)[1].decode()
    assert "Traceback" not in errors
    assert "ClientDisconnect" not in errors


def test_a_byte_at_a_time_does_not_keep_a_request_alive(impatient: RunningServer) -> None:
    with impatient.connect() as stream:
        stream.sendall(_START)
        stream.settimeout(0.1)

        def is_closed() -> bool:
            try:
                stream.sendall(b"X")
                return stream.recv(1) == b""
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        wait_until(is_closed, "the server closes the connection")


@pytest.mark.parametrize("token", ["", "secret"])
def test_an_endless_body_is_not_received(folder: Path, token: str) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    authorization = f"Authorization: Bearer {token}\r\n".encode() if token else b""
    sent = 0
    with serving_http(folder, "--http", "0", *_TOKEN) as server, server.connect() as stream:
        stream.sendall(_START + authorization + b"Transfer-Encoding: chunked\r\n")
        stream.sendall(b"Content-Type: application/json\r\n")
        stream.sendall(b"Accept: application/json, text/event-stream\r\n\r\n")
        with suppress(ConnectionError):
            while sent < 500_000_000:
                stream.sendall(chunk)
                sent += len(chunk)
        assert sent < 50_000_000  # this includes bytes in the buffers of the system
        assert server.post(HELLO)[0] == 401


def test_a_refused_client_that_is_still_sending_reads_the_response(folder: Path) -> None:
    with serving_http(folder, "--http", "0", *_TOKEN) as server:
        assert server.post(b'"' + b"x" * 5_000_000 + b'"')[0] == 401


def test_running_out_of_file_handles_is_one_message_and_ends(folder: Path) -> None:
    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))

    # As soon as no handle is left, `accept` fails with the error of `os.open`. The real `accept`
    # could succeed, because another thread may have closed a handle in the meantime.
    exhausting = """
import os, socket, threading
accept = socket.socket.accept
held = []
is_released = threading.Event()
def release():
    is_released.set()
    for handle in held:
        os.close(handle)
timer = threading.Timer(2, release)
def exhausted_accept(self):
    if not held:
        timer.start()
    while not is_released.is_set():
        held.append(os.open(os.devnull, os.O_RDONLY))
    return accept(self)
socket.socket.accept = exhausted_accept
from rootle.cli.main import entry
entry()
"""
    options = ("--http", "0", "--set", "enableIndexing=false")
    with serving_http(folder, *options, program=exhausting, limits=limit_files) as server:
        assert server.post(HELLO)[0] == 200  # answered as soon as there are free handles again
        server.process.terminate()
        errors = server.process.communicate(timeout=TIMEOUT_S)[1].decode()
    # `accept` is first called at startup, so its message may come before the address.
    printed = server.messages + errors
    assert printed.count("cannot accept connections for now: Too many open files") == 1, printed
    assert printed.count("\n") < 6, printed[:2_000]


def test_more_connections_than_file_handles_are_served_in_turn(folder: Path) -> None:
    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

    with serving_http(folder, "--http", "0", program=_IMPATIENT, limits=limit_files) as server:
        with ExitStack() as stack:
            for _ in range(300):
                stack.enter_context(server.connect())
            assert server.post(HELLO)[0] == 200
        server.process.terminate()
        errors = server.process.communicate(timeout=TIMEOUT_S)[1].decode()
    assert "Traceback" not in errors
    assert errors.count("\n") < 5, errors[:2_000]


def test_clients_that_never_end_their_session_do_not_lock_out_others(folder: Path) -> None:
    with serving_http(folder, "--http", "0") as server:
        assert {server.post(HELLO)[0] for _ in range(250)} == {200}


def test_a_full_standard_error_does_not_block_a_server(folder: Path) -> None:
    call = {"name": "vectordb_read", "arguments": {"source": "README.md"}}
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    # The test reads no message after the first.
    with serving_http(folder, "--http", "0", program=_LOG_FLOOD) as server:
        assert server.post(request)[0] == 200
        assert server.post(HELLO)[0] == 200
