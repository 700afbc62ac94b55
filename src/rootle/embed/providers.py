"""What the servers that embed want to be asked, and where the vectors stand in their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit

_AZURE_VERSION: Final = "2024-10-21"

Body = dict[str, Any]  # Any: what goes into JSON


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """What is to be embedded."""

    model: str
    texts: Sequence[str]
    is_query: bool
    dimensions: int  # 0: the model's own


@dataclass(frozen=True, slots=True)
class EmbeddingProvider:
    """One kind of server."""

    url: str  # where it is without `embeddingEndpoint`; empty where nobody can know
    needs_key: bool  # at that place
    body: Callable[[EmbeddingRequest], Body]
    rows: Callable[[Any], list[Any]]  # Any: whatever stood in the JSON
    # Vectors of one model can be compared whoever serves it, if he treats texts the same way.
    shape: str = "openai"
    path: str = "/embeddings"
    key_header: str = "Authorization"


def _body(size_key: str = "dimensions") -> Callable[[EmbeddingRequest], Body]:
    """The request of OpenAI, with another name for the number of dimensions where need be."""

    def build(wish: EmbeddingRequest) -> Body:
        body: Body = {"model": wish.model, "input": list(wish.texts)}
        return {**body, size_key: wish.dimensions} if wish.dimensions else body

    return build


def _jina_body(wish: EmbeddingRequest) -> Body:
    body = _body()(wish)
    # The models of the second generation know no tasks.
    if "-v2-" not in wish.model:
        name = "nl2code" if "code" in wish.model else "retrieval"
        body["task"] = f"{name}.{'query' if wish.is_query else 'passage'}"
    return body


def _voyage_body(wish: EmbeddingRequest) -> Body:
    kind = "query" if wish.is_query else "document"
    return {**_body("output_dimension")(wish), "input_type": kind}


def _cohere_body(wish: EmbeddingRequest) -> Body:
    body: Body = {
        "model": wish.model,
        "texts": list(wish.texts),
        "input_type": "search_query" if wish.is_query else "search_document",
        "embedding_types": ["float"],
    }
    return {**body, "output_dimension": wish.dimensions} if wish.dimensions else body


def _listed_rows(data: Any) -> list[Any]:
    """The vectors of OpenAI's answer in the order of their `index`, which need not be that of it.

    Raises KeyError, TypeError or ValueError for anything else.
    """
    items = data["data"]
    if all("index" not in item for item in items):
        return [item["embedding"] for item in items]
    if sorted(item["index"] for item in items) != list(range(len(items))):
        raise ValueError("an index stands twice or is missing")
    return [item["embedding"] for item in sorted(items, key=lambda item: int(item["index"]))]


def _cohere_rows(data: Any) -> list[Any]:
    return list(data["embeddings"]["float"])


def _openai_like(
    url: str, *, needs_key: bool = False, size_key: str = "dimensions"
) -> EmbeddingProvider:
    return EmbeddingProvider(url, needs_key, _body(size_key), _listed_rows)


PROVIDERS: Final[Mapping[str, EmbeddingProvider]] = {
    "openai": _openai_like("https://api.openai.com/v1", needs_key=True),
    "azure": EmbeddingProvider("", True, _body(), _listed_rows, path="", key_header="api-key"),
    "ollama": _openai_like("http://127.0.0.1:11434/v1"),
    "llamacpp": _openai_like("http://127.0.0.1:8080/v1"),
    "vllm": _openai_like("http://127.0.0.1:8000/v1"),
    "lmstudio": _openai_like("http://127.0.0.1:1234/v1"),
    "mistral": _openai_like(
        "https://api.mistral.ai/v1", needs_key=True, size_key="output_dimension"
    ),
    "jina": EmbeddingProvider(
        "https://api.jina.ai/v1", True, _jina_body, _listed_rows, shape="jina"
    ),
    "voyage": EmbeddingProvider(
        "https://api.voyageai.com/v1", True, _voyage_body, _listed_rows, shape="voyage"
    ),
    "cohere": EmbeddingProvider(
        "https://api.cohere.com/v2",
        True,
        _cohere_body,
        _cohere_rows,
        shape="cohere",
        path="/embed",
    ),
}


def request_url(name: str, endpoint: str, model: str) -> str:
    """Where a provider takes what is to be embedded; `endpoint` with or without the last step."""
    provider = PROVIDERS[name]
    base = (endpoint or provider.url).rstrip("/")
    if name == "azure":
        return _azure_url(base, model)
    return base if base.endswith(provider.path) else f"{base}{provider.path}"


def _azure_url(base: str, deployment: str) -> str:
    if urlsplit(base).path.rstrip("/").endswith("/embeddings"):
        return base
    if base.endswith("/openai/v1"):  # the newer way, which takes the deployment as the model
        return f"{base}/embeddings"
    place = f"/openai/deployments/{quote(deployment, safe='')}/embeddings"
    return f"{base}{place}?api-version={_AZURE_VERSION}"
