"""Reranking by a server over HTTP: a cross-encoder reads the question beside each document."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from rootle.errors import RefusedError, RerankError, UnavailableError
from rootle.http.client import JsonServer, redact_url
from rootle.protocols import Hit
from rootle.rerank.providers import WIRES, RerankProvider, request_url

_TIMEOUT_S: Final = 2.0
# Whoever waits for an answer has an order already: asking again costs more than it brings.
_ATTEMPTS: Final = 1
_UNAUTHORIZED: Final = 401


class ServerReranker:
    """A Reranker on a server of the kind that `provider` names, one of WIRES.

    The key is asked for with the first request. `batch_size` documents go into one request, as many
    as the server takes where it is 0; the timeout is for all requests together.
    """

    def __init__(
        self,
        provider: str,
        model: str = "",
        *,
        endpoint: str = "",
        key: Callable[[], str] = str,
        timeout_s: float = _TIMEOUT_S,
        batch_size: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises ConfigError for an endpoint that is no URL."""
        self._wire: RerankProvider = WIRES[provider]
        self._model = model
        self._url = request_url(self._wire, endpoint)
        JsonServer(self._url)  # says so now where that is no address
        self._key = key
        self._timeout_s = timeout_s
        self._batch_size = batch_size or self._wire.batch_size
        self._clock = clock
        self._server: JsonServer | None = None

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        """Best first, equal scores in the order of the documents; raises RerankError."""
        if not documents:
            return []
        size = self._batch_size or len(documents)
        deadline = self._clock() + self._timeout_s
        hits: list[Hit] = []
        try:
            server = self._opened()
            for start in range(0, len(documents), size):
                batch = documents[start : start + size]
                found = self._ask(server, query, batch, self._left_s(deadline))
                hits += (Hit(start + hit.index, hit.score) for hit in found)
        except UnavailableError as error:
            if isinstance(error, RefusedError) and error.status == _UNAUTHORIZED:
                self._server = None  # a key command may give another key by now
            raise RerankError(str(error), retry_after_s=error.retry_after_s) from error
        return sorted(hits, key=lambda hit: (-hit.score, hit.index))

    def _left_s(self, deadline: float) -> float:
        left_s = round(deadline - self._clock(), 3)
        if left_s <= 0:
            where = redact_url(self._url)
            raise UnavailableError(f"{where} did not answer within {self._timeout_s:g} s")
        return left_s

    def _opened(self) -> JsonServer:
        # Two threads may both make one; the connections of the one that is dropped are closed.
        server = self._server
        if server is None:
            key = self._key()
            server = self._server = JsonServer(
                self._url,
                {"Authorization": f"Bearer {key}"} if key else {},
                secrets=[key],
                attempts=_ATTEMPTS,
            )
        return server

    def _ask(
        self, server: JsonServer, query: str, documents: Sequence[str], timeout_s: float
    ) -> list[Hit]:
        def read(answer: Any) -> list[Hit]:  # Any: whatever stood in the JSON
            try:
                return self._wire.hits(answer, len(documents))
            except ValueError as error:
                raise UnavailableError(
                    f"the reranker at {server.redacted_url} sent {error}"
                ) from error

        body = self._wire.body(self._model, _sendable(query), [*map(_sendable, documents)])
        return server.post("", body, timeout_s=timeout_s, read=read)


class LlamaServerReranker(ServerReranker):
    """llama.cpp's server, started with `--reranking`."""

    def __init__(
        self,
        endpoint: str = "",
        *,
        model: str = "",  # one server may hold several
        timeout_s: float = _TIMEOUT_S,
        batch_size: int = 0,
    ) -> None:
        super().__init__(
            "llamacpp", model, endpoint=endpoint, timeout_s=timeout_s, batch_size=batch_size
        )


class CohereReranker(ServerReranker):
    """Cohere's hosted rerankers, by version 2 of their interface."""

    def __init__(
        self,
        api_key: str,
        model: str = "rerank-v3.5",
        *,
        endpoint: str = "",
        timeout_s: float = _TIMEOUT_S,
        batch_size: int = 0,
    ) -> None:
        super().__init__(
            "cohere",
            model,
            endpoint=endpoint,
            key=lambda: api_key,
            timeout_s=timeout_s,
            batch_size=batch_size,
        )


def _sendable(text: str) -> str:
    """Without halves of characters, which are no UTF-8 and which servers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")
