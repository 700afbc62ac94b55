"""A search engine that is asked in JSON: its failures in the words of the cascade."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rootle.errors import RateLimitedError, Unavailable, UnavailableError
from rootle.http.client import JsonServer
from rootle.protocols import WebResult
from rootle.web.normalize_results import normalize_results

# Exa says 402 where the credits are used up; too many requests are 429 everywhere.
_LIMITS: Final = {402: "its quota is used up, HTTP 402", 429: "rate limited, HTTP 429"}
_UNAUTHORIZED: Final = 401
# Beside those the server's own troubles, which pass.
_PASSING: Final = frozenset({408, 425})
_MAX_ANSWER_BYTES: Final = 8_000_000

Found = Callable[[Any], Sequence[tuple[str, str, str]]]  # Any: whatever stood in the JSON


class JsonApi:
    """A server of one search engine. It is asked once: the cascade knows somebody else."""

    def __init__(
        self, url: str, *, key_header: str = "", key: Callable[[], str] = str, timeout_s: float
    ) -> None:
        """`key` is asked for with the first request."""
        self.url = url
        self._key_header, self._key = key_header, key
        self._timeout_s = timeout_s
        self._server: JsonServer | None = None

    def results(
        self, method: str, path: str, body: object, *, found: Found, max_results: int
    ) -> list[WebResult]:
        """What the engine found. Raises Unavailable where the next one should be asked."""

        def read(data: Any) -> list[WebResult]:
            try:
                return normalize_results(found(data), max_results)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise UnavailableError(
                    f"{self.url} answered with something else than results"
                ) from error

        try:
            return self._open().request(method, path, body, timeout_s=self._timeout_s, read=read)
        except UnavailableError as error:
            if error.status == _UNAUTHORIZED:
                self._server = None  # a key command may give another one by now
            passing = self._passing(error)
            if passing is None:
                raise
            raise passing from error

    def _open(self) -> JsonServer:
        if self._server is None:
            key = self._key() if self._key_header else ""
            headers: Mapping[str, str] = {self._key_header: key} if key else {}
            self._server = JsonServer(
                self.url,
                headers,
                secrets=[key],
                attempts=1,
                max_answer_bytes=_MAX_ANSWER_BYTES,
            )
        return self._server

    def _passing(self, error: UnavailableError) -> Unavailable | None:
        """The failure in the words of the cascade, where it is one that will pass."""
        if error.status in _LIMITS:
            return RateLimitedError(
                _LIMITS[error.status], retry_after_s=error.retry_after_s, status=error.status
            )
        if error.status >= 500 or error.status in _PASSING:
            return Unavailable(f"HTTP {error.status}", status=error.status)
        if isinstance(error.__cause__, TimeoutError):
            return Unavailable(f"no answer within {self._timeout_s:g} s")
        return None
