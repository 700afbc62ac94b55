"""HTTP requests to a search server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonServer
from rootle.http.urls import redact_url

WRITE_TIMEOUT_S: Final = 30.0
# The time limit of reads. Each replication run starts with a read, so a run ends early if the
# server hangs.
READ_TIMEOUT_S: Final = 5.0


class MissingError(RefusedError):
    """Raised if the requested resource does not exist."""


class HttpBackend:
    """A search server with its credentials. Thread-safe."""

    def __init__(
        self, kind: str, endpoint: str, headers: Callable[[], Mapping[str, str]] = dict
    ) -> None:
        """Create a client. Messages name the server as `kind`. `headers` is called on first use."""
        self.name = f"{kind} at {redact_url(endpoint)}"
        self._endpoint = endpoint
        self._headers = headers
        self._lock = threading.Lock()
        self._server: JsonServer | None = None

    def request(
        self, method: str, path: str, body: object = None, *, timeout_s: float | None = None
    ) -> Any:  # Any: JSON of the server
        """Return the JSON response. Raises MissingError, RefusedError or UnavailableError."""
        if timeout_s is None:
            timeout_s = READ_TIMEOUT_S if method == "GET" else WRITE_TIMEOUT_S
        server = self._connect()
        try:
            return server.request(method, path, body, timeout_s=timeout_s, read=_identity)
        except RefusedError as error:
            if error.status == 404:
                raise MissingError(str(error), error.status) from error
            raise

    def has(self, path: str) -> bool:
        """Return whether the resource exists."""
        try:
            self.request("GET", path)
        except MissingError:
            return False
        return True

    def remove(self, path: str) -> None:
        """Delete a resource if it exists."""
        try:
            self.request("DELETE", path)
        except MissingError:
            return

    def _connect(self) -> JsonServer:
        with self._lock:
            if self._server is None:
                headers = self._headers()
                secrets = [value.rpartition(" ")[2] for value in headers.values()]
                # No retries: a search falls back immediately, and replication has its own backoff.
                self._server = JsonServer(self._endpoint, headers, secrets=secrets, attempts=1)
            return self._server

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise UnavailableError for any error that an unexpected response causes in the block."""
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnavailableError(f"{self.name} sent a response in an unknown format") from error


def _identity(answer: Any) -> Any:
    return answer
