"""One search server over plain HTTP, as its adapter talks to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonServer, redact_url

WRITE_TIMEOUT_S: Final = 30.0
LOOK_TIMEOUT_S: Final = 5.0  # each run begins with a look, so that one against a hung server ends


class MissingError(RefusedError):
    """The server has nothing under that name."""


class HttpBackend:
    """Where a server is, and what it must be told to let us in. Safe to use from many threads."""

    def __init__(
        self, kind: str, endpoint: str, headers: Callable[[], Mapping[str, str]] = dict
    ) -> None:
        """`kind` is its name in messages; `headers` may run a command: called when needed."""
        self.name = f"{kind} at {redact_url(endpoint)}"
        self._endpoint = endpoint
        self._headers = headers
        self._lock = threading.Lock()
        self._server: JsonServer | None = None

    def ask(
        self, method: str, path: str, body: object = None, *, timeout_s: float | None = None
    ) -> Any:  # Any: JSON that another program wrote
        """What the server answers; raises MissingError, RefusedError and UnavailableError."""
        if timeout_s is None:
            timeout_s = LOOK_TIMEOUT_S if method == "GET" else WRITE_TIMEOUT_S
        server = self._opened()
        try:
            return server.request(method, path, body, timeout_s=timeout_s, read=_as_it_is)
        except RefusedError as error:
            if error.status == 404:
                raise MissingError(str(error), error.status) from error
            raise

    def has(self, path: str) -> bool:
        """Whether there is anything under that path."""
        try:
            self.ask("GET", path)
        except MissingError:
            return False
        return True

    def remove(self, path: str) -> None:
        """Delete what is there; nothing there is no error."""
        try:
            self.ask("DELETE", path)
        except MissingError:
            return

    def _opened(self) -> JsonServer:
        with self._lock:
            if self._server is None:
                headers = self._headers()
                secrets = [value.rpartition(" ")[2] for value in headers.values()]
                # No second try: a search falls back at once, a feed has longer pauses of its own.
                self._server = JsonServer(self._endpoint, headers, secrets=secrets, attempts=1)
            return self._server

    @contextmanager
    def reading(self) -> Iterator[None]:
        """For taking an answer apart: one of another shape than was asked for is a failure."""
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnavailableError(
                f"{self.name} answered in a shape that rootle does not know"
            ) from error


def _as_it_is(answer: Any) -> Any:
    return answer
