"""One JSON request: its deadline, its retries, its errors, and the key that none of them shows."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from json_server import JsonServer, Reply, serving

from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.http import client as http_client
from rootle.http import connection

KEY = "sk-very-secret-0123456789"


class _Clock:
    """Time that passes when somebody sleeps, beside the real one."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self) -> float:
        return time.monotonic() + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: Reply({"you sent": request.body})) as running:
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


def ask(asked: http_client.JsonServer, timeout_s: float = 10.0, path: str = "/v1/things") -> Any:
    return asked.post(path, {"input": "x"}, timeout_s=timeout_s, read=lambda data: data)


def say(server: JsonServer, replies: Sequence[Reply]) -> None:
    """Answer with these, one after the other, and go on with the last."""
    left = list(replies)
    server.answer = lambda request: left.pop(0) if len(left) > 1 else left[0]


def test_an_answer_comes_back_and_the_connection_is_used_again(server):
    asked = client(f"{server.url}/api")
    assert ask(asked) == {"you sent": {"input": "x"}}
    assert ask(asked) == {"you sent": {"input": "x"}}
    assert server.connections == 1
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/api/v1/things")
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_request_without_a_body_and_a_query_in_the_address(server):
    asked = client(f"{server.url}/api/?version=2")
    assert asked.request("GET", "/x", None, timeout_s=5, read=lambda data: data) == {
        "you sent": None
    }
    assert server.requests[0].path == "/api/x?version=2"


def test_a_connection_that_was_closed_while_idle_is_made_anew(server):
    server.answer = lambda request: Reply({}, headers={"Keep-Alive": "timeout=0"})
    asked = client(server.url)
    ask(asked)
    for idle in asked._idle:
        idle.sock.shutdown(socket.SHUT_RDWR)
    assert ask(asked) == {}
    assert server.connections == 2


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_passing_failure_is_asked_again_after_growing_pauses(server, clock, status):
    say(server, [Reply({}, status), Reply({}, status), Reply("done")])
    assert ask(client(server.url, clock)) == "done"
    assert clock.slept == [0.25, 0.5]


def test_retry_after_is_kept_to_in_seconds_and_as_a_date(server, clock):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    replies = [Reply({}, 429, {"Retry-After": wait}) for wait in ("7", date, "soon")]
    say(server, [*replies, Reply("done")])
    assert ask(client(server.url, clock), timeout_s=100) == "done"
    assert clock.slept[0] == 7
    assert 25 < clock.slept[1] <= 30
    assert clock.slept[2] == 1.0  # what nobody can read is left to our own pauses


def test_a_wait_that_is_longer_than_the_deadline_is_reported_at_once(server, clock):
    say(server, [Reply({}, 429, {"Retry-After": "60"})])
    with pytest.raises(UnavailableError, match="HTTP 429") as caught:
        ask(client(server.url, clock), timeout_s=2)
    assert caught.value.retry_after_s == 60
    assert clock.slept == []


def test_it_gives_up_after_a_few_attempts(server, clock):
    say(server, [Reply({}, 503)])
    with pytest.raises(UnavailableError, match="HTTP 503"):
        ask(client(server.url, clock), timeout_s=1000)
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [301, 400, 404, 413, 422])
def test_what_would_be_refused_again_is_not_asked_again(server, status):
    say(server, [Reply({"error": "too long"}, status, {"Location": "http://example.com"})])
    with pytest.raises(RefusedError, match=f"HTTP {status}.*too long") as caught:
        ask(client(server.url))
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
def test_garbage_is_asked_again_and_then_reported(server, clock, reply):
    say(server, [reply])
    with pytest.raises(UnavailableError):
        ask(client(server.url, clock, max_answer_bytes=1_000_000 if reply.raw else 4_000))
    assert len(server.requests) == 4


def test_an_answer_beyond_the_bound_is_not_read(server):
    say(server, [Reply(raw=b"x" * 5_000)])
    with pytest.raises(UnavailableError, match="larger than 4000 bytes"):
        ask(client(server.url, max_answer_bytes=4_000))


def test_an_answer_that_is_of_no_use_to_the_reader_is_asked_again(server):
    say(server, [Reply({"n": 0}), Reply({"n": 1})])

    def read(data):
        if not data["n"]:
            raise UnavailableError("nothing in it")
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
def test_the_deadline_holds_for_the_whole_of_a_request(server, reply):
    say(server, [reply])
    started = time.monotonic()
    with pytest.raises(UnavailableError, match=r"did not answer within 0\.3 s"):
        ask(client(server.url), timeout_s=0.3)
    assert 0.2 < time.monotonic() - started < 1.0


def test_headers_that_drip_in_are_bound_by_the_deadline_too():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_drip_headers, args=(listening,))
        thread.start()
        started = time.monotonic()
        with pytest.raises(UnavailableError, match="did not answer"):
            ask(client(f"http://127.0.0.1:{listening.getsockname()[1]}"), timeout_s=0.3)
        assert 0.2 < time.monotonic() - started < 1.0
        thread.join()


def _drip_headers(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection, suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X: y\r\n")
            time.sleep(0.02)


def test_tls_is_spoken_within_the_deadline_and_strangers_are_refused(certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(lambda request: Reply({"ok": "x" * 500}), context=context) as server:
        asked = client(server.url.replace("http:", "https:"))
        assert ask(asked)["ok"]
        assert ask(asked)["ok"]
        assert server.connections == 1
        say(server, [Reply({"slowly": "x" * 500}, drip_s=0.02)])
        with pytest.raises(UnavailableError, match="did not answer"):
            ask(asked, timeout_s=0.3)
        monkeypatch.delenv("SSL_CERT_FILE")
        connection._tls.cache_clear()
        with pytest.raises(UnavailableError, match="certificate"):
            ask(client(server.url.replace("http:", "https:")))


def test_a_server_that_is_not_there_is_named():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with pytest.raises(UnavailableError, match=rf"{url}/v1/things cannot be reached: .*refused"):
        ask(client(url))


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_no_error_holds_the_key(server, status):
    echo = {"error": f"Incorrect API key provided: {KEY}. Half of it: {KEY[:8]}***"}
    say(server, [Reply(echo, status)])
    asked = client(server.url.replace("http://", f"http://user:{KEY}@") + f"/x?key={KEY}")
    with pytest.raises(UnavailableError) as caught:
        ask(asked)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error!r} {error.args}"
        error = error.__cause__ or error.__context__
    assert KEY not in repr(asked)
    if status in (401, 403):
        assert KEY[:8] not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x", "nothing", "http://", "http://h:99999/"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ConfigError):
        client(url)


@pytest.mark.parametrize("key", ["a\nb", "schlüssel", "\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key):
    with pytest.raises(ConfigError, match="header Authorization") as caught:
        http_client.JsonServer("http://127.0.0.1:1", {"Authorization": f"Bearer {key}"})
    assert key not in str(caught.value)
