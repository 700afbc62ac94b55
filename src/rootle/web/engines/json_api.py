"""HTTP client for search providers with a JSON API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from http.client import HTTPException
from typing import Any, Final

from rootle.errors import RateLimitedError, Unavailable, UnavailableError, UnreachableError
from rootle.http.client import JsonServer
from rootle.http.urls import redact_url
from rootle.protocols import WebResult
from rootle.web.normalize_results import normalize_results

# Exa answers 402 when the credits are used up. All providers answer 429 to too many requests.
_LIMITS: Final = {402: "its quota is used up, HTTP 402", 429: "rate limited, HTTP 429"}
_UNAUTHORIZED: Final = 401
# Statuses below 500 that report temporary failures.
_TEMPORARY: Final = frozenset({408, 425})
_MAX_ANSWER_BYTES: Final = 8_000_000

# A function that converts parsed JSON to rows of title, URL and body. Any: the parsed JSON
ReadRows = Callable[[Any], Iterable[tuple[str, str, str]]]


class JsonApi:
    """The API of one provider. A failed request is not retried, but sent to the next provider."""

    def __init__(
        self, url: str, *, key_header: str = "", key: Callable[[], str] = str, timeout_s: float
    ) -> None:
        """Use the API at `url`. `key` is called before the first request, and after HTTP 401."""
        self._url = url
        self.redacted_url = redact_url(url)
        self._key_header, self._key = key_header, key
        self._timeout_s = timeout_s
        self._server: JsonServer | None = None

    def search(
        self, method: str, path: str, body: object, *, read: ReadRows, max_results: int
    ) -> list[WebResult]:
        """Return the results in the response. Raise Unavailable for a temporary failure."""

        def read_results(data: Any) -> list[WebResult]:
            try:
                return normalize_results(read(data), max_results)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise UnavailableError(
                    f"{self.redacted_url} answered with something other than results"
                ) from error

        server = self._open_server()
        try:
            return server.request(method, path, body, timeout_s=self._timeout_s, read=read_results)
        except UnavailableError as error:
            if error.status == _UNAUTHORIZED:
                self._server = None  # the next request reads the key again
            temporary = self._temporary_error(error)
            if temporary is None:
                raise
            raise temporary from error

    def _open_server(self) -> JsonServer:
        if self._server is None:
            key = self._key() if self._key_header else ""
            headers: Mapping[str, str] = {self._key_header: key} if key else {}
            self._server = JsonServer(
                self._url,
                headers,
                secrets=[key],
                attempts=1,
                max_answer_bytes=_MAX_ANSWER_BYTES,
            )
        return self._server

    def _temporary_error(self, error: UnavailableError) -> Unavailable | None:
        """Return the error after which the next provider is used; None for a permanent failure."""
        if error.status in _LIMITS:
            return RateLimitedError(
                _LIMITS[error.status], retry_after_s=error.retry_after_s, status=error.status
            )
        if error.status >= 500 or error.status in _TEMPORARY:
            return Unavailable(f"HTTP {error.status}", status=error.status)
        if isinstance(error.__cause__, TimeoutError):
            return UnreachableError(f"no answer within {self._timeout_s:g} s")
        if isinstance(error.__cause__, OSError | HTTPException):
            return UnreachableError(str(error))
        return None
