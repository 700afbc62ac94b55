"""JSON requests: deadlines, retries, errors, and keys that never appear in a message."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from json_server import JsonServer, Reply, serving

from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.http import client as http_client
from rootle.http import connection

KEY = "sk-very-secret-0123456789"


class _Clock:
    """The monotonic clock plus the time of simulated sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self) -> float:
        return time.monotonic() + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: Reply({"received": request.body})) as running:
        yield running


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


def client(url: str, clock: _Clock | None = None, **options: Any) -> http_client.JsonServer:
    clock = clock or _Clock()
    return http_client.JsonServer(
        url,
        {"Authorization": f"Bearer {KEY}"},
        secrets=[KEY],
        clock=clock,
        sleep=clock.sleep,
        rng=lambda: 1.0,
        **options,
    )


def post(target: http_client.JsonServer, timeout_s: float = 10.0, path: str = "/v1/things") -> Any:
    return target.post(path, {"input": "x"}, timeout_s=timeout_s, read=lambda data: data)


def set_replies(server: JsonServer, replies: Sequence[Reply]) -> None:
    """Answer requests with these replies in order, and repeat the last one."""
    queue = list(replies)
    server.answer = lambda request: queue.pop(0) if len(queue) > 1 else queue[0]


def test_an_answer_is_returned_and_the_connection_is_reused(server: JsonServer) -> None:
    target = client(f"{server.url}/api")
    assert post(target) == {"received": {"input": "x"}}
    assert post(target) == {"received": {"input": "x"}}
    assert server.connections == 1
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/api/v1/things")
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_request_can_have_no_body_and_a_query_in_the_url(server: JsonServer) -> None:
    target = client(f"{server.url}/api/?version=2")
    assert target.request("GET", "/x", None, timeout_s=5, read=lambda data: data) == {
        "received": None
    }
    assert server.requests[0].path == "/api/x?version=2"


def test_a_connection_that_was_closed_while_idle_is_replaced(server: JsonServer) -> None:
    server.answer = lambda request: Reply({}, headers={"Keep-Alive": "timeout=0"})
    target = client(server.url)
    post(target)
    for idle in target._pool._idle:
        idle.sock.shutdown(socket.SHUT_RDWR)
    assert post(target) == {}
    assert server.connections == 2


@pytest.mark.retry_delays
@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_temporary_failure_is_retried_after_increasing_delays(
    server: JsonServer, clock: _Clock, status: int
) -> None:
    set_replies(server, [Reply({}, status), Reply({}, status), Reply("done")])
    assert post(client(server.url, clock)) == "done"
    assert clock.slept == [0.25, 0.5]


@pytest.mark.retry_delays
def test_retry_after_is_respected_in_seconds_and_as_a_date(
    server: JsonServer, clock: _Clock
) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    replies = [Reply({}, 429, {"Retry-After": wait}) for wait in ("7", date, "soon")]
    set_replies(server, [*replies, Reply("done")])
    assert post(client(server.url, clock), timeout_s=100) == "done"
    assert clock.slept[0] == 7
    assert 25 < clock.slept[1] <= 30
    assert clock.slept[2] == 1.0  # the default delay for an invalid value


def test_a_wait_that_is_longer_than_the_deadline_is_reported_at_once(
    server: JsonServer, clock: _Clock
) -> None:
    set_replies(server, [Reply({}, 429, {"Retry-After": "60"})])
    with pytest.raises(UnavailableError, match="HTTP 429") as caught:
        post(client(server.url, clock), timeout_s=2)
    assert caught.value.retry_after_s == 60
    assert clock.slept == []


def test_a_request_fails_after_four_attempts(server: JsonServer, clock: _Clock) -> None:
    set_replies(server, [Reply({}, 503)])
    with pytest.raises(UnavailableError, match="HTTP 503"):
        post(client(server.url, clock), timeout_s=1000)
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [301, 400, 404, 413, 422])
def test_a_permanent_failure_is_not_retried(server: JsonServer, status: int) -> None:
    set_replies(server, [Reply({"error": "too long"}, status, {"Location": "http://example.com"})])
    with pytest.raises(RefusedError, match=f"HTTP {status}.*too long") as caught:
        post(client(server.url))
    assert caught.value.status == status
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b"<html>bad gateway</html>"),
        Reply(raw=b"[" * 100_000),
        Reply(raw=b"\xff\xfe"),
        Reply({"half": "an answer"}, cut=True),
        Reply(raw=b"x" * 5_000),
    ],
    ids=["html", "nested", "bytes", "cut", "large"],
)
def test_an_invalid_answer_is_retried_and_then_reported(
    server: JsonServer, clock: _Clock, reply: Reply
) -> None:
    set_replies(server, [reply])
    with pytest.raises(UnavailableError):
        post(client(server.url, clock, max_answer_bytes=1_000_000 if reply.raw else 4_000))
    assert len(server.requests) == 4


def test_a_large_answer_is_rejected(server: JsonServer) -> None:
    set_replies(server, [Reply(raw=b"x" * 5_000)])
    with pytest.raises(UnavailableError, match="larger than 4000 bytes"):
        post(client(server.url, max_answer_bytes=4_000))


def test_an_answer_that_the_caller_rejects_is_retried(server: JsonServer) -> None:
    set_replies(server, [Reply({"n": 0}), Reply({"n": 1})])

    def read(data: dict[str, int]) -> int | None:
        if not data["n"]:
            raise UnavailableError("empty")
        return data["n"]

    assert client(server.url).post("/", {}, timeout_s=10, read=read) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(hang=True),
        Reply({"slowly": "x" * 500}, drip_s=0.02),
        Reply({}, headers={"X-Long": "y"}, hang=True),
    ],
)
def test_the_deadline_applies_to_the_whole_request(server: JsonServer, reply: Reply) -> None:
    set_replies(server, [reply])
    started = time.monotonic()
    with pytest.raises(UnavailableError, match=r"did not answer within 0\.3 s"):
        post(client(server.url), timeout_s=0.3)
    assert 0.2 < time.monotonic() - started < 1.0


def test_the_deadline_applies_to_slow_headers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_drip_headers, args=(listening,))
        thread.start()
        started = time.monotonic()
        with pytest.raises(UnavailableError, match="did not answer"):
            post(client(f"http://127.0.0.1:{listening.getsockname()[1]}"), timeout_s=0.3)
        assert 0.2 < time.monotonic() - started < 1.0
        thread.join()


def _drip_headers(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection, suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X: y\r\n")
            time.sleep(0.02)


def test_the_deadline_applies_to_tls_and_unknown_certificates_are_rejected(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(lambda request: Reply({"ok": "x" * 500}), context=context) as server:
        target = client(server.url.replace("http:", "https:"))
        assert post(target)["ok"]
        assert post(target)["ok"]
        assert server.connections == 1
        set_replies(server, [Reply({"slowly": "x" * 500}, drip_s=0.02)])
        with pytest.raises(UnavailableError, match="did not answer"):
            post(target, timeout_s=0.3)
        monkeypatch.delenv("SSL_CERT_FILE")
        connection._tls_context.cache_clear()
        with pytest.raises(UnavailableError, match="certificate"):
            post(client(server.url.replace("http:", "https:")))


def test_an_error_names_an_unreachable_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with pytest.raises(UnavailableError, match=rf"{url}/v1/things cannot be reached: .*refused"):
        post(client(url))


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_no_error_contains_the_key(server: JsonServer, status: int) -> None:
    echo = {"error": f"Incorrect API key provided: {KEY}. Half of it: {KEY[:8]}***"}
    set_replies(server, [Reply(echo, status)])
    target = client(server.url.replace("http://", f"http://user:{KEY}@") + f"/x?key={KEY}")
    with pytest.raises(UnavailableError) as caught:
        post(target)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error!r} {error.args}"
        error = error.__cause__ or error.__context__
    assert KEY not in repr(target)
    if status in (401, 403):
        assert KEY[:8] not in str(caught.value)


def test_a_user_and_a_password_in_the_url_are_sent_as_basic_authentication(
    server: JsonServer,
) -> None:
    set_replies(server, [Reply({}), Reply({}), Reply({"error": "no user:p@ss here"}, 400)])
    url = server.url.replace("http://", "http://user:p%40ss@")
    http_client.JsonServer(url).post("/x", {}, timeout_s=20, read=lambda answer: answer)
    with_header = http_client.JsonServer(url, {"Authorization": "Bearer b"})
    with_header.post("/x", {}, timeout_s=20, read=lambda answer: answer)
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Basic {base64.b64encode(b'user:p@ss').decode()}", "Bearer b"]
    with pytest.raises(UnavailableError) as caught:
        with_header.post("/x", {}, timeout_s=20, read=lambda answer: answer)
    assert "p@ss" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x", "nothing", "http://", "http://h:99999/"])
def test_an_invalid_url_is_rejected(url: str) -> None:
    with pytest.raises(ConfigError):
        client(url)


@pytest.mark.parametrize("key", ["a\nb", "schlüssel", "\x00"])
def test_a_key_with_invalid_characters_is_rejected_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="header Authorization") as caught:
        http_client.JsonServer("http://127.0.0.1:1", {"Authorization": f"Bearer {key}"})
    assert key not in str(caught.value)
