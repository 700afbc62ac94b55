"""The request and response formats of reranking servers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlunsplit

from rootle.http.urls import split_url
from rootle.protocols import Hit

_STEP: Final = "/rerank"


@dataclass(frozen=True, slots=True)
class RerankProvider:
    """The API of one kind of server."""

    url: str  # the default of `rerankerEndpoint`
    path: str = "/v1/rerank"
    needs_key: bool = False  # whether the service at the default URL requires an API key
    takes_model: bool = True
    documents: str = "documents"  # the name of the request field with the documents
    # the name of the response field with the list of scores; "" if the response is the list itself
    results: str = "results"
    score: str = "relevance_score"
    batch_size: int = 0  # the default maximum number of documents per request; 0: no limit
    also: Mapping[str, object] = field(default_factory=dict)  # further fields of every request

    def body(self, model: str, query: str, documents: Sequence[str]) -> dict[str, object]:
        """Return the body of a request for the scores of all documents."""
        model_field = {"model": model} if model and self.takes_model else {}
        return {**model_field, "query": query, self.documents: list(documents), **self.also}

    def hits(self, answer: Any, count: int) -> list[Hit]:  # Any: JSON
        """Return the scores in a response for `count` documents.

        Raise ValueError if the response is invalid. Its message completes "the reranker sent …".
        """
        items = answer.get(self.results) if self.results and isinstance(answer, dict) else answer
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise ValueError("a response without a list of scores")
        hits = [
            Hit(_index(item.get("index"), count), _score(item.get(self.score))) for item in items
        ]
        if len({hit.index for hit in hits}) < len(hits):
            raise ValueError("two scores for one document")
        if not hits:
            raise ValueError(f"no score for {count} documents")
        return hits


def _index(value: Any, count: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < count:
        raise ValueError(f"a score for document {value!r:.40}, but {count} documents were sent")
    return value


def _score(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{value!r:.40} instead of a score")  # noqa: TRY004 - callers catch ValueError
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise ValueError("a score that is not finite")
    return score


# From the API documentation of each server.
PROVIDERS: Final[Mapping[str, RerankProvider]] = {
    "llamacpp": RerankProvider("http://127.0.0.1:8080"),
    "cohere": RerankProvider("https://api.cohere.com", "/v2/rerank", needs_key=True),
    "jina": RerankProvider("https://api.jina.ai", needs_key=True, also={"return_documents": False}),
    "voyage": RerankProvider("https://api.voyageai.com", needs_key=True, results="data"),
    "vllm": RerankProvider("http://127.0.0.1:8000"),
    # This server has a single model. Without `truncate`, it refuses long texts.
    "tei": RerankProvider(
        "http://127.0.0.1:8080",
        _STEP,
        takes_model=False,
        documents="texts",
        results="",
        score="score",
        batch_size=32,
        also={"truncate": True},
    ),
    "infinity": RerankProvider("http://127.0.0.1:7997", _STEP),
}


def request_url(provider: RerankProvider, endpoint: str) -> str:
    """Return the URL of rerank requests. `endpoint` may include the path of the API."""
    parts = split_url(endpoint or provider.url)
    path = parts.path.rstrip("/")
    version = provider.path.removesuffix(_STEP)
    if not path.endswith(_STEP):
        path += _STEP if version and path.endswith(version) else provider.path
    return urlunsplit(parts._replace(path=path))
