"""A fake embedding server with the APIs of OpenAI and Cohere; tests can replace its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hash_embedder import HashEmbedder
from json_server import JsonServer, Reply, Request, serving

DIMENSIONS = 48


def rows_of(texts: Sequence[str], dimensions: int = DIMENSIONS) -> list[list[float]]:
    return [[float(part) for part in row] for row in HashEmbedder(dimensions).embed(texts)]


def openai_answer(texts: Sequence[str], dimensions: int = DIMENSIONS) -> Any:
    rows = enumerate(rows_of(texts, dimensions))
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in rows]
    return {"object": "list", "data": data, "model": "m", "usage": {"total_tokens": 1}}


def cohere_answer(texts: Sequence[str], dimensions: int = DIMENSIONS) -> Any:
    return {"id": "1", "embeddings": {"float": rows_of(texts, dimensions)}, "texts": list(texts)}


def answer(request: Request) -> Reply:
    """Answer in the format of Cohere if the request contains `texts`, otherwise as OpenAI does."""
    body = request.body
    size = body.get("dimensions") or body.get("output_dimension") or DIMENSIONS
    if "texts" in body:
        return Reply(cohere_answer(body["texts"], size))
    return Reply(openai_answer(body["input"], size))


@contextmanager
def embedding_server() -> Iterator[JsonServer]:
    with serving(answer) as server:
        yield server


def texts_of(server: JsonServer) -> list[str]:
    """Return every text that the server received, in order."""
    return [
        text
        for request in server.requests
        for text in request.body.get("texts") or request.body.get("input", [])
    ]
