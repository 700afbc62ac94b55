"""One JSON request over HTTP: a deadline for the whole of it, bounded retries, our own errors.

The standard library alone: nothing to install, and nothing that reads keys, proxies or a `.netrc`
from the environment.
"""

from __future__ import annotations

import json
import random
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from rootle.concurrency.backoff import Backoff, Rng
from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.http.connection import Connection

MAX_ANSWER_BYTES: Final = 64_000_000
_ATTEMPTS: Final = 4
_BACKOFF: Final = Backoff(first_s=0.25, longest_s=8.0)
_MAX_IDLE: Final = 4
_QUOTED_CHARS: Final = 200
# Of the answers that are no success those that may be another one a moment later.
_PASSING: Final = frozenset({408, 425, 429})
_ABOUT_THE_KEY: Final = frozenset({401, 403})

_Read = TypeVar("_Read")


class JsonLines(tuple[object, ...]):
    """A body of several JSON values, each on a line of its own."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    data: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    retry_after: str
    body: bytes


class JsonServer:
    """A server that takes and gives JSON. Safe to use from several threads.

    Connections are kept for the next request. Nothing that it raises or shows holds a header or
    one of `secrets`.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        secrets: Sequence[str] = (),
        attempts: int = _ATTEMPTS,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rng: Rng = random.random,
    ) -> None:
        """Raises ConfigError for a URL or a header that HTTP cannot carry."""
        parts = urlsplit(url)
        self.shown_url = shown_url(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f'"{self.shown_url}" is no address like https://host:port/path')
        self._host, self._is_tls = parts.hostname, parts.scheme == "https"
        self._port = _port_of(url) or (443 if self._is_tls else 80)
        self._path = parts.path.rstrip("/")
        self._query = f"?{parts.query}" if parts.query else ""
        self._headers = _checked(headers or {})
        self._secrets = tuple(secret for secret in secrets if secret)
        self._attempts = attempts
        self._max_answer_bytes = max_answer_bytes
        self._clock, self._sleep, self._rng = clock, sleep, rng
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    def post(
        self,
        path: str,
        body: object,
        *,
        timeout_s: float,
        read: Callable[[Any], _Read],  # Any: whatever stood in the JSON
    ) -> _Read:
        """What `read` makes of the answer; asks again, within `timeout_s`, after a passing failure.

        `read` raises UnavailableError for an answer that is no use. Raises RefusedError where
        asking again would not help, UnavailableError where it might later.
        """
        return self.request("POST", path, body, timeout_s=timeout_s, read=read)

    def request(
        self,
        method: str,
        path: str,
        body: object,
        *,
        timeout_s: float,
        read: Callable[[Any], _Read],
    ) -> _Read:
        """The same with any method; a body of None sends none, `JsonLines` one JSON a line."""
        request = _Request(method, path, *_encoded(body))
        deadline = self._clock() + timeout_s
        failures = 0
        while True:
            try:
                return read(self._json(request, deadline, timeout_s))
            except RefusedError:
                raise
            except UnavailableError as error:
                failures += 1
                pause = max(error.retry_after_s, _BACKOFF.delay_s(failures, self._rng))
                if failures >= self._attempts or self._clock() + pause >= deadline:
                    raise
            self._sleep(pause)

    def _json(
        self, request: _Request, deadline: float, timeout_s: float
    ) -> Any:  # Any: whatever stood in the JSON
        # What is asked for may stand behind the question mark, and is nobody's business.
        where = f"{self.shown_url}{request.path.partition('?')[0]}"
        try:
            answer = self._answer(request, deadline)
        except TimeoutError as error:
            raise UnavailableError(f"{where} did not answer within {timeout_s:g} s") from error
        except (OSError, HTTPException) as error:
            why = str(error) or type(error).__name__
            raise UnavailableError(f"{where} cannot be reached: {self._quoted(why)}") from error
        if not 200 <= answer.status < 300:
            raise self._refusal(where, answer)
        try:
            return json.loads(answer.body or b"null")
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"{where} answered with something that is no JSON") from error

    def _answer(self, request: _Request, deadline: float) -> _Answer:
        connection = self._connection()
        was_idle = connection.sock is not None
        try:
            return self._ask(connection, request, deadline)
        except ConnectionError:
            # It may have been closed while it lay idle, which says nothing of the server.
            if not was_idle:
                raise
        return self._ask(self._new_connection(), request, deadline)

    def _ask(self, connection: Connection, request: _Request, deadline: float) -> _Answer:
        headers = {"Accept": "application/json", "User-Agent": "rootle", **self._headers}
        if request.data:
            headers["Content-Type"] = request.content_type
        place = f"{self._path}{request.path}{self._query}" or "/"
        try:
            connection.deadline = deadline
            connection.request(request.method, place, request.data or None, headers)
            response = connection.getresponse()
            body = self._body(response)
            answer = _Answer(response.status, response.headers.get("Retry-After", ""), body)
        except BaseException:
            connection.close()
            raise
        self._keep(connection)
        return answer

    def _body(self, response: HTTPResponse) -> bytes:
        body = response.read(self._max_answer_bytes + 1)
        if len(body) > self._max_answer_bytes:
            raise HTTPException(f"the answer is larger than {self._max_answer_bytes} bytes")
        if response.length:  # what was still to come
            raise IncompleteRead(body, response.length)
        return body

    def _connection(self) -> Connection:
        with self._lock:
            return self._idle.pop() if self._idle else self._new_connection()

    def _new_connection(self) -> Connection:
        return Connection(self._host, self._port, is_tls=self._is_tls, clock=self._clock)

    def _keep(self, connection: Connection) -> None:
        with self._lock:
            if connection.sock is not None and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _refusal(self, where: str, answer: _Answer) -> UnavailableError:
        if answer.status in _ABOUT_THE_KEY:
            # Some servers quote the key that they refuse, or half of it.
            return RefusedError(
                f"{where} refuses the key (HTTP {answer.status}); check the key in the "
                "configuration",
                answer.status,
            )
        said = f"{where} answered HTTP {answer.status}"
        quoted = self._quoted(answer.body.decode("utf-8", "replace"))
        said += f": {quoted}" if quoted else ""
        if answer.status in _PASSING or answer.status >= 500:
            wait_s = _retry_after_s(answer.retry_after)
            return UnavailableError(said, retry_after_s=wait_s, status=answer.status)
        return RefusedError(said, answer.status)

    def _quoted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "…")
        shown = "".join(c if c.isprintable() else " " for c in text)
        shown = " ".join(shown.split())
        return shown if len(shown) <= _QUOTED_CHARS else f"{shown[: _QUOTED_CHARS - 1]}…"


def shown_url(url: str) -> str:
    """An address as it may be shown: without user, password, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")


def _encoded(body: object) -> tuple[bytes, str]:
    if isinstance(body, JsonLines):
        return "".join(f"{json.dumps(item)}\n" for item in body).encode(), "application/x-ndjson"
    return b"" if body is None else json.dumps(body).encode(), "application/json"


def _port_of(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError as error:
        raise ConfigError(f'"{shown_url(url)}" has no port between 0 and 65535') from error


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers; not with their values in the error, which may be keys."""
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise ConfigError(
                f"the value of the header {name} has a line break or another character that HTTP "
                "cannot carry; check the key in the configuration"
            )
    return dict(headers)


def _retry_after_s(value: str) -> float:
    """Seconds from a Retry-After header, which holds them or a date (RFC 9110, 10.2.3)."""
    try:
        return max(0.0, float(value)) if value.strip().isdigit() else _seconds_until(value)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _seconds_until(date: str) -> float:
    when = parsedate_to_datetime(date)
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _close_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()
