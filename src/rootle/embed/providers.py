"""Request and response formats of embedding servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlunsplit

from rootle.http.urls import split_url

_AZURE_VERSION: Final = "2024-10-21"

Body = dict[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """The texts to embed, and the options of a request."""

    model: str
    texts: Sequence[str]
    is_query: bool
    dimensions: int  # 0: the default of the model


@dataclass(frozen=True, slots=True)
class EmbeddingProvider:
    """The API of one provider."""

    url: str  # the default of `embeddingEndpoint`; empty if there is none
    needs_key: bool  # whether the server at the default URL requires an API key
    build_body: Callable[[EmbeddingRequest], Body]
    read_rows: Callable[[Any], list[Any]]  # Any: parsed JSON
    # Part of the fingerprint. Servers with the same shape return comparable vectors for the same
    # model.
    shape: str = "openai"
    path: str = "/embeddings"
    key_header: str = "Authorization"


def _build_openai_body(request: EmbeddingRequest, size_key: str = "dimensions") -> Body:
    """Return a request for OpenAI's API. `size_key` is the field for the number of dimensions."""
    body: Body = {"model": request.model, "input": list(request.texts)}
    return {**body, size_key: request.dimensions} if request.dimensions else body


def _build_jina_body(request: EmbeddingRequest) -> Body:
    body = _build_openai_body(request)
    # Jina's v2 models have no tasks.
    if "-v2-" not in request.model:
        name = "nl2code" if "code" in request.model else "retrieval"
        body["task"] = f"{name}.{'query' if request.is_query else 'passage'}"
    return body


def _build_voyage_body(request: EmbeddingRequest) -> Body:
    kind = "query" if request.is_query else "document"
    return {**_build_openai_body(request, "output_dimension"), "input_type": kind}


def _build_cohere_body(request: EmbeddingRequest) -> Body:
    body: Body = {
        "model": request.model,
        "texts": list(request.texts),
        "input_type": "search_query" if request.is_query else "search_document",
        "embedding_types": ["float"],
    }
    return {**body, "output_dimension": request.dimensions} if request.dimensions else body


def _read_openai_rows(data: Any) -> list[Any]:
    """Return the vectors in a response in OpenAI's format, sorted by their `index`.

    Raises KeyError, TypeError or ValueError if the response is invalid.
    """
    items = data["data"]
    if all("index" not in item for item in items):
        return [item["embedding"] for item in items]
    if sorted(item["index"] for item in items) != list(range(len(items))):
        raise ValueError("an index is missing or occurs twice")
    return [item["embedding"] for item in sorted(items, key=lambda item: int(item["index"]))]


def _read_cohere_rows(data: Any) -> list[Any]:
    return list(data["embeddings"]["float"])


def _openai_compatible(
    url: str, *, needs_key: bool = False, size_key: str = "dimensions"
) -> EmbeddingProvider:
    build_body = partial(_build_openai_body, size_key=size_key)
    return EmbeddingProvider(url, needs_key, build_body, _read_openai_rows)


PROVIDERS: Final[Mapping[str, EmbeddingProvider]] = {
    "openai": _openai_compatible("https://api.openai.com/v1", needs_key=True),
    "azure": EmbeddingProvider(
        "", True, _build_openai_body, _read_openai_rows, path="", key_header="api-key"
    ),
    "ollama": _openai_compatible("http://127.0.0.1:11434/v1"),
    "llamacpp": _openai_compatible("http://127.0.0.1:8080/v1"),
    "vllm": _openai_compatible("http://127.0.0.1:8000/v1"),
    "lmstudio": _openai_compatible("http://127.0.0.1:1234/v1"),
    "mistral": _openai_compatible(
        "https://api.mistral.ai/v1", needs_key=True, size_key="output_dimension"
    ),
    "jina": EmbeddingProvider(
        "https://api.jina.ai/v1", True, _build_jina_body, _read_openai_rows, shape="jina"
    ),
    "voyage": EmbeddingProvider(
        "https://api.voyageai.com/v1", True, _build_voyage_body, _read_openai_rows, shape="voyage"
    ),
    "cohere": EmbeddingProvider(
        "https://api.cohere.com/v2",
        True,
        _build_cohere_body,
        _read_cohere_rows,
        shape="cohere",
        path="/embed",
    ),
}


def request_url(name: str, endpoint: str, model: str) -> str:
    """Return the URL of a provider's API; `endpoint` may already include the last path segment."""
    provider = PROVIDERS[name]
    parts = split_url(endpoint or provider.url)
    path = parts.path.rstrip("/")
    step = provider.path
    if name == "azure":
        step = "/embeddings"
        # In the newer API, at "/openai/v1", the URL does not contain the name of the deployment.
        if not path.endswith((step, "/openai/v1")):
            path = f"{path}/openai/deployments/{quote(model, safe='')}"
            parts = parts._replace(query=parts.query or f"api-version={_AZURE_VERSION}")
    return urlunsplit(parts._replace(path=path if path.endswith(step) else f"{path}{step}"))
