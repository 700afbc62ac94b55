"""One search server over plain HTTP, as its adapter talks to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from rootle.errors import RefusedError, UnavailableError
from rootle.net import JsonServer

WRITE_TIMEOUT_S: Final = 30.0


class MissingError(RefusedError):
    """The server has nothing under that name."""


class RestServer:
    """Where a server is, and what it must be told to let us in."""

    def __init__(self, kind: str, endpoint: str, headers: Mapping[str, str] | None = None) -> None:
        """`kind` is its name in messages. Raises ConfigError for what is no address."""
        # No second try: a search falls back at once, and a feed has longer pauses of its own.
        secrets = [value.rpartition(" ")[2] for value in (headers or {}).values()]
        self._server = JsonServer(endpoint, headers, secrets=secrets, attempts=1)
        self.name = f"{kind} at {self._server.shown_url}"

    def ask(
        self, method: str, path: str, body: object = None, *, timeout_s: float = WRITE_TIMEOUT_S
    ) -> Any:  # Any: JSON that another program wrote
        """What the server answers; raises MissingError, RefusedError and UnavailableError."""
        try:
            return self._server.request(method, path, body, timeout_s=timeout_s, read=_as_it_is)
        except RefusedError as error:
            if error.status == 404:
                raise MissingError(str(error), error.status) from error
            raise

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
