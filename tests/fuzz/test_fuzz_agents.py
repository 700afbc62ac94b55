"""Hostile input from agents: tool calls, memories, lines on stdio and HTTP requests."""

from __future__ import annotations

import errno
import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz_inputs import bounded_time, fuzz, is_json, json_values, outcome_of, texts
from http_process import HELLO, RunningServer, serving_http
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_process import Lines, lines_of
from sample import make_repository

from rootle import App, open_app
from rootle.tools import call_tool, create_tools

pytestmark = pytest.mark.slow

_NAMES = ("vectordb_search", "vectordb_read", "recall", "remember")
_METHODS = (
    *("initialize", "ping", "tools/list", "tools/call", "resources/list", "prompts/get"),
    *("notifications/cancelled", "notifications/initialized", "completion/complete"),
)
_TIMEOUT_S = 60.0
_calls = st.fixed_dictionaries(
    {"name": st.sampled_from(_NAMES) | texts},
    optional={"arguments": json_values | st.fixed_dictionaries({"query": texts})},
)
_messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(_METHODS) | texts},
    optional={"id": json_values, "params": json_values | _calls, "extra": json_values},
)
# HTTP bodies and lines on stdio: messages, other JSON, bytes without line ends, deep nesting.
_payloads = (
    _messages.map(lambda message: json.dumps(message).encode())
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=80).map(lambda raw: raw.replace(b"\n", b" "))
    | st.integers(1, 5_000).map(lambda depth: b"[" * depth)
)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with open_app(make_repository(tmp_path / "repository"), index_dir=tmp_path / "index") as app:
        app.index()
        yield app


@fuzz
@given(name=st.sampled_from(_NAMES) | texts, arguments=texts | st.dictionaries(texts, json_values))
def test_any_call_of_a_tool_has_an_answer(
    app: App, name: str, arguments: str | dict[str, Any]
) -> None:
    with bounded_time():
        answer = call_tool(create_tools(app), name, arguments)
    assert answer.text.startswith("Error: ") == answer.is_error


@fuzz
@given(text=texts)
def test_any_text_is_an_argument_of_every_tool(app: App, text: str) -> None:
    for tool in create_tools(app):
        with bounded_time():
            answer = tool.run(text)
        assert answer.text.startswith("Error: ") == answer.is_error
        assert answer.text.strip()
        assert is_json([answer.text, dict(answer.data)])


_lines = texts | _payloads.map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@fuzz
@given(
    fact=texts,
    about=st.lists(texts, max_size=2),
    lines=st.lists(_lines, max_size=3),
    ids=st.lists(texts, max_size=2),
)
@example(fact="a fact", about=["name\udcff"], lines=[], ids=[])
@example(fact="a fact", about=[], lines=[], ids=["9223372036854775808", "9" * 5_000])
def test_any_memory_is_stored_or_refused(
    app: App, fact: str, about: list[str], lines: list[str], ids: list[str]
) -> None:
    remembered = outcome_of(lambda: app.memory.remember(fact, about))
    if remembered is not None and remembered.memory is not None:
        stored = {memory.text for memory in app.memory.list_memories()}
        assert remembered.memory.text in stored
    outcome_of(lambda: app.memory.import_lines(lines))
    outcome_of(lambda: app.memory.recall(fact))
    outcome_of(lambda: app.memory.prefetch(fact))
    outcome_of(lambda: app.memory.forget(ids))
    outcome_of(app.memory.audit)


def test_the_stdio_server_survives_any_lines(tmp_path: Path) -> None:
    with lines_of(make_repository(tmp_path / "repository")) as server:
        server.initialize()
        count = iter(range(10**6, 10**9))

        @fuzz
        @given(payload=_payloads)
        @example(payload=b'{"jsonrpc": "2.0", "id": "\\ud800", "method": ""}')
        def send(payload: bytes) -> None:
            server.send(payload + b"\n")
            _await_pong(server, next(count))

        send()
        server.process.terminate()
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()


def _await_pong(server: Lines, number: int) -> None:
    """Send a ping, and read messages until its response."""
    server.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
    with bounded_time():
        while server.receive().get("id") != number:
            pass


_headers = st.dictionaries(
    st.sampled_from(
        ["Content-Type", "Accept", "Host", "Origin", "Authorization", "Content-Length",
         "Transfer-Encoding", "Mcp-Session-Id", "MCP-Protocol-Version", "Expect", "Connection"]
    ),
    st.sampled_from(["", "application/json", "text/event-stream", "*/*", "chunked", "-1", "9" * 30,
                     "http://evil.example", "Bearer x", "100-continue", "close", "identity"])
    | st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=40),
    max_size=5,
)  # fmt: skip


def test_the_http_server_survives_any_requests(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repository")
    with serving_http(root, "--http", "127.0.0.1:0") as server:

        @fuzz
        @given(
            method=st.sampled_from(["POST", "GET", "DELETE", "PUT", "OPTIONS", "TRACE", "X"]),
            path=st.sampled_from(["/mcp", "/", "/mcp/", "*", "http://a/mcp", "/mcp?x=%00"]),
            headers=_headers,
            body=_payloads,
            has_length=st.booleans(),
        )
        # A body so large that the server refuses it while the client is still sending.
        @example(
            method="DELETE",
            path="/",
            headers={"Host": "a"},
            body=b"x" * 3_000_000,
            has_length=False,
        )
        def send(
            method: str, path: str, headers: dict[str, str], body: bytes, has_length: bool
        ) -> None:
            lines = [f"{method} {path} HTTP/1.1", *map(": ".join, headers.items())]
            if has_length:
                lines.append(f"Content-Length: {len(body)}")
            _send_raw(server, "\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            assert server.post(HELLO)[0] == 200

        send()
        server.process.terminate()
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()


# Errors that show that the server closed the connection while the client was still sending.
_IS_CLOSED = (errno.ECONNRESET, errno.ENOTCONN, errno.EPIPE)


def _send_raw(server: RunningServer, data: bytes) -> None:
    """Send a request, and read the response until the server closes the connection."""
    with server.connect() as connection, bounded_time():
        connection.settimeout(_TIMEOUT_S)
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno not in _IS_CLOSED:
                raise  # such as a timeout
        try:
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert 100 <= response.status < 600
            assert response.status != 500
        except (http.client.HTTPException, ConnectionError):
            pass  # the server closed the connection without an answer
