"""How the servers that rerank want to be asked, and where their answers keep the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rootle.protocols import Hit

_STEP: Final = "/rerank"


@dataclass(frozen=True, slots=True)
class RerankProvider:
    """One kind of server."""

    url: str  # where it is without `rerankerEndpoint`
    path: str = "/v1/rerank"
    needs_key: bool = False  # at that place
    takes_model: bool = True
    documents: str = "documents"  # names of fields
    results: str = "results"  # empty where the list is the whole answer
    score: str = "relevance_score"
    batch_size: int = 0  # documents that it takes at once as it comes; 0 for any number
    also: Mapping[str, object] = field(default_factory=dict)  # what goes into every request

    def body(self, model: str, query: str, documents: Sequence[str]) -> dict[str, object]:
        """The request. How many to send back is left out: all of them."""
        named = {"model": model} if model and self.takes_model else {}
        return {**named, "query": query, self.documents: list(documents), **self.also}

    def hits(self, answer: Any, count: int) -> list[Hit]:  # Any: whatever stood in the JSON
        """The scores in an answer for so many documents; ValueError says what is wrong with it."""
        items = answer.get(self.results) if self.results and isinstance(answer, dict) else answer
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise ValueError("something else than a list of scores")
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
        raise ValueError(f"a score for document {value!r:.40}, of {count} that were sent")
    return value


def _score(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{value!r:.40} in the place of a score")  # noqa: TRY004 - as the others
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise ValueError("a score that is no finite number")
    return score


# From each server's own description of its interface.
WIRES: Final[Mapping[str, RerankProvider]] = {
    "llamacpp": RerankProvider("http://127.0.0.1:8080"),
    "cohere": RerankProvider("https://api.cohere.com", "/v2/rerank", needs_key=True),
    "jina": RerankProvider("https://api.jina.ai", needs_key=True, also={"return_documents": False}),
    "voyage": RerankProvider("https://api.voyageai.com", needs_key=True, results="data"),
    "vllm": RerankProvider("http://127.0.0.1:8000"),
    # It serves one model. A text that is too long is cut, as the others do, and not refused.
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


def request_url(wire: RerankProvider, endpoint: str) -> str:
    """Where a server takes what is to be reranked; `endpoint` with or without its last steps."""
    base = (endpoint or wire.url).rstrip("/")
    version = wire.path.removesuffix(_STEP)
    if base.endswith(_STEP):
        return base
    return f"{base}{_STEP}" if version and base.endswith(version) else f"{base}{wire.path}"
