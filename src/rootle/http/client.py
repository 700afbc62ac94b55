"""JSON requests over HTTP with a deadline, bounded retries and errors without secrets.

The client uses only the standard library, which avoids a dependency. It does not read proxies or
credentials from the environment or from `.netrc`.
"""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

from rootle.concurrency.backoff import Rng
from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.http.connection import Connection
from rootle.http.connection_pool import ConnectionPool
from rootle.http.retry import ATTEMPTS, RetryRules, is_retryable, parse_retry_after
from rootle.http.urls import redact_url, split_url

MAX_ANSWER_BYTES: Final = 64_000_000
_MAX_QUOTED_CHARS: Final = 200
_KEY_REFUSED: Final = frozenset({401, 403})

_Result = TypeVar("_Result")


class JsonLines(tuple[object, ...]):
    """A request body of JSON values, one per line."""

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
    """Client of a server that accepts and returns JSON. Safe to use from several threads.

    Connections are reused. No error message contains a header or one of `secrets`.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        secrets: Sequence[str] = (),
        attempts: int = ATTEMPTS,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rng: Rng = random.random,
    ) -> None:
        """Create a client that sends requests with `headers` to the server at `url`.

        A user name and a password in the URL are sent as basic authentication, unless `headers`
        contain other credentials.

        Raises ConfigError if the URL is invalid, or if a header contains characters that HTTP
        cannot transmit.
        """
        parts = split_url(url)
        self.redacted_url = redact_url(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f'"{self.redacted_url}" is not a URL like https://host:port/path')
        is_tls = parts.scheme == "https"
        port = _parse_port(url) or (443 if is_tls else 80)
        self._pool = ConnectionPool(parts.hostname, port, is_tls=is_tls, clock=clock)
        self._path = parts.path.rstrip("/")
        self._query = f"?{parts.query}" if parts.query else ""
        login = _read_login(url)
        self._headers = {**_encode_login(login), **_validate_headers(headers or {})}
        password = login.partition(":")[2]
        self._secrets = tuple(secret for secret in (*secrets, login, password) if secret)
        self._max_answer_bytes = max_answer_bytes
        self._clock = clock
        self._retry_rules = RetryRules(attempts, clock, sleep, rng)

    def post(
        self,
        path: str,
        body: object,
        *,
        timeout_s: float,
        read: Callable[[Any], _Result],  # Any: parsed JSON
    ) -> _Result:
        """Send a POST request, pass the parsed response to `read`, and return its result.

        `read` must raise UnavailableError if the response is invalid. Temporary failures are
        retried within `timeout_s`. Raises RefusedError for a failure that a retry cannot resolve,
        and UnavailableError for any other failure.
        """
        return self.request("POST", path, body, timeout_s=timeout_s, read=read)

    def request(
        self,
        method: str,
        path: str,
        body: object,
        *,
        timeout_s: float,
        read: Callable[[Any], _Result],
    ) -> _Result:
        """Send a request like `post`, but with any method. If `body` is None, no body is sent."""
        request = _Request(method, path, *_encode_body(body))
        deadline = self._clock() + timeout_s
        return self._retry_rules.run(
            lambda: read(self._request_json(request, deadline, timeout_s)), deadline
        )

    def _request_json(
        self, request: _Request, deadline: float, timeout_s: float
    ) -> Any:  # Any: parsed JSON
        # The query string may contain the text of the user's search, so messages omit it.
        url = f"{self.redacted_url}{request.path.partition('?')[0]}"
        try:
            answer = self._send(request, deadline)
        except TimeoutError as error:
            raise UnavailableError(f"{url} did not answer within {timeout_s:g} s") from error
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise UnavailableError(f"{url} cannot be reached: {self._quote(reason)}") from error
        if not 200 <= answer.status < 300:
            raise self._status_error(url, answer)
        try:
            return json.loads(answer.body or b"null")
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"{url} answered with invalid JSON") from error

    def _send(self, request: _Request, deadline: float) -> _Answer:
        connection = self._pool.acquire()
        was_idle = connection.sock is not None
        try:
            return self._send_over(connection, request, deadline)
        except ConnectionError:
            # The server may have closed the idle connection. This is not a failure: use a new
            # connection.
            if not was_idle:
                raise
        return self._send_over(self._pool.create(), request, deadline)

    def _send_over(self, connection: Connection, request: _Request, deadline: float) -> _Answer:
        headers = {"Accept": "application/json", "User-Agent": "rootle", **self._headers}
        if request.data:
            headers["Content-Type"] = request.content_type
        target = f"{self._path}{request.path}{self._query}" or "/"
        try:
            connection.deadline = deadline
            connection.request(request.method, target, request.data or None, headers)
            response = connection.getresponse()
            body = self._read_body(response)
            answer = _Answer(response.status, response.headers.get("Retry-After", ""), body)
        except BaseException:
            connection.close()
            raise
        self._pool.release(connection)
        return answer

    def _read_body(self, response: HTTPResponse) -> bytes:
        body = response.read(self._max_answer_bytes + 1)
        if len(body) > self._max_answer_bytes:
            raise HTTPException(f"the answer is larger than {self._max_answer_bytes} bytes")
        if response.length:  # the number of bytes that did not arrive
            raise IncompleteRead(body, response.length)
        return body

    def _status_error(self, url: str, answer: _Answer) -> UnavailableError:
        if answer.status in _KEY_REFUSED:
            # The body is not shown, because some servers quote the key or a part of it.
            return RefusedError(
                f"{url} refuses the key (HTTP {answer.status}); check the key in the configuration",
                answer.status,
            )
        message = f"{url} answered HTTP {answer.status}"
        quoted = self._quote(answer.body.decode("utf-8", "replace"))
        message += f": {quoted}" if quoted else ""
        if is_retryable(answer.status):
            retry_after_s = parse_retry_after(answer.retry_after)
            return UnavailableError(message, retry_after_s=retry_after_s, status=answer.status)
        return RefusedError(message, answer.status)

    def _quote(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "…")
        printable = "".join(c if c.isprintable() else " " for c in text)
        line = " ".join(printable.split())
        return line if len(line) <= _MAX_QUOTED_CHARS else f"{line[: _MAX_QUOTED_CHARS - 1]}…"


def _read_login(url: str) -> str:
    """Return "user:password" from a URL; "" if it contains neither."""
    parts = urlsplit(url)
    if not parts.username and not parts.password:
        return ""
    return f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"


def _encode_login(login: str) -> dict[str, str]:
    if not login:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(login.encode('utf-8', 'replace')).decode()}"}


def _encode_body(body: object) -> tuple[bytes, str]:
    if isinstance(body, JsonLines):
        return "".join(f"{json.dumps(item)}\n" for item in body).encode(), "application/x-ndjson"
    return b"" if body is None else json.dumps(body).encode(), "application/json"


def _parse_port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError as error:
        raise ConfigError(f'"{redact_url(url)}" has no port between 0 and 65535') from error


def _validate_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            # The value may be a key, so the message does not contain it.
            raise ConfigError(
                f"the value of the header {name} has a line break or another character that HTTP "
                "cannot carry; check the key in the configuration"
            )
    return dict(headers)
