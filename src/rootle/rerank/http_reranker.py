"""Rerank documents with a cross-encoder on a server, over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from rootle.errors import ConfigError, RefusedError, RerankError, UnavailableError
from rootle.http.client import JsonServer
from rootle.http.urls import redact_url
from rootle.protocols import Hit
from rootle.rerank.providers import PROVIDERS, RerankProvider, request_url
from rootle.text.terms import encodable

_TIMEOUT_S: Final = 2.0
# The number of attempts. The caller already has a ranking, so a retry costs more than it gains.
_ATTEMPTS: Final = 1
_UNAUTHORIZED: Final = 401
_MAX_TIMEOUT_S: Final = 86_400


class ServerReranker:
    """A reranker on a server that has the API of a provider in PROVIDERS.

    The API key is read before the first request. A request contains up to `batch_size` documents;
    0 means the provider's maximum. The timeout covers all requests of a call.
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
        """Create a reranker. Raise ConfigError for an invalid argument."""
        _check_arguments(provider, timeout_s, batch_size)
        self._provider: RerankProvider = PROVIDERS[provider]
        self._model = model
        self._url = request_url(self._provider, endpoint)
        JsonServer(self._url)  # raises now if the URL is invalid
        self._key = key
        self._timeout_s = timeout_s
        self._batch_size = batch_size or self._provider.batch_size
        self._clock = clock
        self._server: JsonServer | None = None

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        """Return the hits, best first. Ties are in the order of the documents.

        Raise RerankError if a request fails or the timeout expires.
        """
        if not documents:
            return []
        size = self._batch_size or len(documents)
        deadline = self._clock() + self._timeout_s
        hits: list[Hit] = []
        try:
            server = self._connect()
            for start in range(0, len(documents), size):
                batch = documents[start : start + size]
                found = self._request(server, query, batch, self._remaining_s(deadline))
                hits += (Hit(start + hit.index, hit.score) for hit in found)
        except UnavailableError as error:
            if isinstance(error, RefusedError) and error.status == _UNAUTHORIZED:
                # read the key again next time, as the key command may return a new one
                self._server = None
            raise RerankError(str(error), retry_after_s=error.retry_after_s) from error
        return sorted(hits, key=lambda hit: (-hit.score, hit.index))

    def _remaining_s(self, deadline: float) -> float:
        remaining_s = round(deadline - self._clock(), 3)
        if remaining_s <= 0:
            where = redact_url(self._url)
            raise UnavailableError(f"{where} did not answer within {self._timeout_s:g} s")
        return remaining_s

    def _connect(self) -> JsonServer:
        # Two threads may each create a JsonServer. The one that is not kept is garbage-collected.
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

    def _request(
        self, server: JsonServer, query: str, documents: Sequence[str], timeout_s: float
    ) -> list[Hit]:
        def read(answer: Any) -> list[Hit]:  # Any: JSON
            try:
                return self._provider.hits(answer, len(documents))
            except ValueError as error:
                raise UnavailableError(
                    f"the reranker at {server.redacted_url} sent {error}"
                ) from error

        body = self._provider.body(self._model, encodable(query), [*map(encodable, documents)])
        return server.post("", body, timeout_s=timeout_s, read=read)


class LlamaServerReranker(ServerReranker):
    """A reranker on a llama.cpp server that was started with `--reranking`."""

    def __init__(
        self,
        endpoint: str = "",
        *,
        model: str = "",  # necessary if the server has several models
        timeout_s: float = _TIMEOUT_S,
        batch_size: int = 0,
    ) -> None:
        super().__init__(
            "llamacpp", model, endpoint=endpoint, timeout_s=timeout_s, batch_size=batch_size
        )


class CohereReranker(ServerReranker):
    """Cohere's hosted reranker, through version 2 of its API."""

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


def _check_arguments(provider: str, timeout_s: float, batch_size: int) -> None:
    if provider not in PROVIDERS:
        raise ConfigError(f'provider is "{provider}", expected one of {", ".join(PROVIDERS)}')
    if not 0 < timeout_s <= _MAX_TIMEOUT_S:
        raise ConfigError(
            f"timeout_s is {timeout_s}, expected a number of seconds from 0 to {_MAX_TIMEOUT_S:,}"
        )
    if batch_size < 0:
        raise ConfigError(f"batch_size is {batch_size}, expected 0 (no limit) or more")
