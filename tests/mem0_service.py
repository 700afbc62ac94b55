"""A fake mem0 service with the two operations that rootle uses, as mem0 documents them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hash_embedder import HashEmbedder
from json_server import Reply, Request

KEY = "m0-very-secret-0123456789"
_FILTER_KEYS = {"user_id", "agent_id", "app_id", "run_id", "metadata", "AND", "OR", "NOT"}
_ENTITIES = {"user_id", "agent_id", "app_id", "run_id"}


class FakeMem0Server:
    """A server that stores memories and rejects invalid requests like the real service."""

    def __init__(self) -> None:
        self.memories: list[dict[str, Any]] = []
        self._embedder = HashEmbedder()

    def answer(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Token {KEY}":
            return Reply({"detail": "Invalid API key."}, status=401)
        if request.path.startswith("/v1/ping/"):
            return Reply({"status": "ok", "org_id": "o", "project_id": "p", "user_email": None})
        if request.method != "POST":
            return Reply({"detail": "Method not allowed."}, status=405)
        if request.path == "/v3/memories/add/":
            return self._add(request.body)
        if request.path == "/v3/memories/search/":
            return self._search(request.body)
        return Reply({"detail": "Not found."}, status=404)

    def _add(self, body: Any) -> Reply:
        messages = body.get("messages")
        if not isinstance(messages, list) or not _ENTITIES & set(body):
            return Reply({"error": "400 Bad Request"}, status=400)
        if body.get("infer", True):
            return Reply({"event_id": "2c4d1f44-4f7b-4b2f-9f6e-7b5b4f5a1234", "status": "PENDING"})
        added = [self._insert(message["content"], body) for message in messages]
        results = [
            {"id": one["id"], "data": {"memory": one["memory"]}, "event": "ADD"} for one in added
        ]
        return Reply({"message": "ok", "status": "SUCCEEDED", "results": results})

    def _insert(self, text: str, body: Mapping[str, Any]) -> dict[str, Any]:
        # A memory that was never changed has no update time.
        memory: dict[str, Any] = {
            "id": f"00000000-0000-4000-8000-{len(self.memories):012d}",
            "memory": text,
            "user_id": body.get("user_id"),
            "metadata": body.get("metadata") or None,
            "categories": [],
            "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "updated_at": None,
        }
        self.memories.append(memory)
        return memory

    def _search(self, body: Any) -> Reply:
        query, filters = body.get("query"), body.get("filters")
        top_k, threshold = body.get("top_k", 10), body.get("threshold", 0.1)
        if not query or not isinstance(filters, dict) or _ENTITIES & set(body):
            return Reply({"error": "filters with ids are required"}, status=400)
        if not 1 <= top_k <= 1000 or not _has_entity(filters) or not _is_valid(filters):
            return Reply({"error": "400 Bad Request"}, status=400)
        matching = [memory for memory in self.memories if _matches(memory, filters)]
        vectors = self._embedder.embed([query, *(memory["memory"] for memory in matching)])
        scored = [
            {**memory, "score": round(float(score), 4)}
            for memory, score in zip(matching, vectors[1:] @ vectors[0], strict=True)
            if score >= threshold
        ]
        return Reply({"results": sorted(scored, key=lambda one: -one["score"])[:top_k]})


def _has_entity(filters: Mapping[str, Any]) -> bool:
    return bool(_ENTITIES & set(filters)) or any(
        _ENTITIES & set(part) for part in filters.get("AND", [])
    )


def _is_valid(filters: Mapping[str, Any]) -> bool:
    parts = [part for name in ("AND", "OR", "NOT") for part in filters.get(name, [])]
    return set(filters) <= _FILTER_KEYS and all(map(_is_valid, parts))


def _matches(memory: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    for name, expected in filters.items():
        if name == "AND":
            is_match = all(_matches(memory, part) for part in expected)
        elif name == "OR":
            is_match = any(_matches(memory, part) for part in expected)
        elif name == "metadata":
            is_match = expected.items() <= _scalars(memory["metadata"] or {}).items()
        else:
            is_match = memory[name] == expected
        if not is_match:
            return False
    return True


def _scalars(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if isinstance(value, str | bool | int)}
