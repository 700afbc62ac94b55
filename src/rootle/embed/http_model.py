"""Embedding by a server: OpenAI's way of asking, which many speak, and those of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rootle.embed.providers import PROVIDERS, EmbeddingRequest, request_url
from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonServer
from rootle.protocols import Matrix

_UNAUTHORIZED = 401


class HttpModel:
    """A TextModel on a server. The key is asked for with the first request, and kept."""

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
        self._name, self._model = provider, model
        self._provider = PROVIDERS[provider]
        self._url = request_url(provider, endpoint, model)
        self._wanted = self.dimensions = dimensions
        self._key = key
        self._connect = connect
        self._server: JsonServer | None = None
        self._lock = threading.Lock()

    def vectors(self, texts: Sequence[str], *, is_query: bool, timeout_s: float) -> Matrix:
        """One row a text. Raises UnavailableError, RefusedError where asking again is no use."""
        wish = EmbeddingRequest(self._model, texts, is_query, self._wanted)
        body = self._provider.body(wish)
        server = self._open_server()
        try:
            rows = server.post(
                "", body, timeout_s=timeout_s, read=lambda data: self._read(data, len(texts))
            )
        except RefusedError as error:
            if error.status == _UNAUTHORIZED:
                self._server = None  # a key command may give another one by now
            raise
        self.dimensions = rows.shape[1]
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

    def _read(self, data: Any, count: int) -> Matrix:  # Any: whatever stood in the JSON
        try:
            rows = np.array(self._provider.rows(data), dtype=np.float64)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._useless("with something else than vectors") from error
        if rows.shape[:1] != (count,):
            raise self._useless(f"with {len(rows)} vectors for {count} texts")
        if rows.ndim != 2 or not rows.shape[1]:
            raise self._useless("with something else than vectors")
        if self.dimensions and rows.shape[1] != self.dimensions:
            raise self._useless(
                f"with vectors of {rows.shape[1]} numbers in the place of {self.dimensions}; is it "
                "the same model?"
            )
        if not np.isfinite(rows).all():
            raise self._useless("with numbers that are infinite or none (NaN)")
        return np.clip(rows, -_LARGEST, _LARGEST).astype(np.float32)

    def _useless(self, why: str) -> UnavailableError:
        return UnavailableError(f'the {self._name} server of "{self._model}" answered {why}')


_LARGEST = float(np.finfo(np.float32).max)
