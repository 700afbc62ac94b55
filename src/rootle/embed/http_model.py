"""Embedding model on a server with the API of OpenAI or another provider."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from rootle.embed.providers import PROVIDERS, Body, EmbeddingRequest, request_url
from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonServer
from rootle.protocols import Matrix

_UNAUTHORIZED: Final = 401
_FLOAT32_MAX: Final = float(np.finfo(np.float32).max)


class HttpModel:
    """A TextModel on a server. The API key is read at the first request."""

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        endpoint: str = "",
        dimensions: int = 0,
        key: Callable[[], str] = str,
        connect: Callable[..., JsonServer] = JsonServer,
    ) -> None:
        self._provider_name, self._model = provider, model
        self._provider = PROVIDERS[provider]
        self._url = request_url(provider, endpoint, model)
        self._requested_dimensions = self._expected_dimensions = dimensions
        self._last_dimensions = 0  # the length of the vectors in the last answer; 0 if unknown
        self._key = key
        self._connect = connect
        self._server: JsonServer | None = None
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 while it is unknown."""
        return self._expected_dimensions or self._last_dimensions

    def expect_dimensions(self, dimensions: int) -> None:
        """Refuse vectors of another length; 0 accepts any."""
        self._expected_dimensions = dimensions

    def vectors(self, texts: Sequence[str], *, is_query: bool, timeout_s: float) -> Matrix:
        """Return one vector per text.

        Raises RefusedError for a failure that a retry cannot resolve, and UnavailableError for any
        other failure.
        """
        request = EmbeddingRequest(self._model, texts, is_query, self._requested_dimensions)
        return self.request(self._provider.build_body(request), len(texts), timeout_s)

    def request(self, body: Body, count: int, timeout_s: float) -> Matrix:
        """Send a request body and return the `count` vectors in the answer; see `vectors`."""
        server = self._open_server()
        try:
            rows = server.post(
                "", body, timeout_s=timeout_s, read=lambda data: self._read(data, count)
            )
        except RefusedError as error:
            if error.status == _UNAUTHORIZED:
                self._server = None  # the next request reads the key again
            raise
        self._last_dimensions = rows.shape[1]
        return rows

    def _open_server(self) -> JsonServer:
        with self._lock:
            if self._server is None:
                key = self._key()
                header = self._provider.key_header
                value = f"Bearer {key}" if header == "Authorization" else key
                self._server = self._connect(
                    self._url, {header: value} if key else {}, secrets=[key]
                )
            return self._server

    def _read(self, data: Any, count: int) -> Matrix:  # Any: parsed JSON
        try:
            rows = np.array(self._provider.read_rows(data), dtype=np.float64)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._invalid_answer("with something other than vectors") from error
        if rows.shape[:1] != (count,):
            raise self._invalid_answer(f"with {len(rows)} vectors for {count} texts")
        if rows.ndim != 2 or not rows.shape[1]:
            raise self._invalid_answer("with something other than vectors")
        known = self.dimensions
        if known and rows.shape[1] != known:
            # This answer or the previous one may be wrong, so forget the number of dimensions.
            self._last_dimensions = 0
            raise self._invalid_answer(
                f"with vectors of {rows.shape[1]} numbers instead of {known}; is it the same model?"
            )
        if not np.isfinite(rows).all():
            raise self._invalid_answer("with infinite numbers or NaN")
        return np.clip(rows, -_FLOAT32_MAX, _FLOAT32_MAX).astype(np.float32)

    def _invalid_answer(self, reason: str) -> UnavailableError:
        return UnavailableError(
            f'the {self._provider_name} server of "{self._model}" answered {reason}'
        )
