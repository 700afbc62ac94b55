"""Memories kept by mem0's hosted service, by version 3 of its interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonServer
from rootle.memory.mem0.record import ABOUT, entity_id, place, plain, read_record, ties, utc
from rootle.types import Memory, MemoryReference

SERVICE_URL: Final = "https://api.mem0.ai"
_ADD: Final = "/v3/memories/add/"
_SEARCH: Final = "/v3/memories/search/"
# An agent's turn waits for it.
_TIMEOUT_S: Final = 10.0
_MAX_TOP_K: Final = 1_000  # of one answer
_UNAUTHORIZED: Final = 401

_Read = TypeVar("_Read")


class Mem0Service:
    """A MemoryStore at mem0's. The key is asked for with the first request."""

    def __init__(
        self,
        key: Callable[[], str],
        *,
        endpoint: str = "",
        timeout_s: float = _TIMEOUT_S,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Raises ConfigError for an endpoint that is no URL."""
        self._key = key
        self._url = endpoint or SERVICE_URL
        JsonServer(self._url)  # says so now where that is no address
        self._timeout_s = timeout_s
        self._now = now
        self._server: JsonServer | None = None

    def add(self, text: str, user_id: str, about: Sequence[MemoryReference] = ()) -> Memory | None:
        """Keep a text word for word; None where the service answers that it will do so later."""
        text = text.strip()
        body = {
            "messages": [{"role": "user", "content": text}],
            "user_id": entity_id(user_id),
            "metadata": _metadata(about),
            "infer": False,  # no model of theirs writes it anew
        }
        memory_id = self._post(_ADD, body, _added_id)
        told_at = utc(self._now().isoformat())
        return Memory(memory_id, text, told_at, about=tuple(about)) if memory_id else None

    def search(
        self, topic: str, user_id: str, top_k: int, about: Sequence[MemoryReference] = ()
    ) -> list[Memory]:
        """At most top_k memories, best first; those that are tied to what is in play come first.

        The service keeps what is told twice as two; they are one here.
        """
        mine = {"user_id": entity_id(user_id)}
        found: list[Memory] = []
        if about:
            # Their filters know no list of values for one key.
            places = [{"metadata": {_key(tie): True}} for tie in about]
            tied = {"AND": [mine, {"OR": places}]}
            found += self._found(topic or about[0].path, tied, top_k, threshold=0.0)
        if topic.strip():
            found += self._found(topic, mine, top_k)
        return _folded(found)[:top_k]

    def _found(
        self, topic: str, filters: Mapping[str, object], top_k: int, **options: object
    ) -> list[Memory]:
        wanted = min(top_k, _MAX_TOP_K)
        body = {"query": topic, "filters": filters, "top_k": wanted, **options}
        return self._post(_SEARCH, body, _records)[:top_k]

    def _post(self, path: str, body: object, read: Callable[[Any], _Read]) -> _Read:
        def checked(answer: Any) -> _Read:  # Any: whatever stood in the JSON
            try:
                return read(answer)
            except ValueError as error:
                raise UnavailableError(f"mem0's service sent {error}") from error

        try:
            return self._opened().post(path, body, timeout_s=self._timeout_s, read=checked)
        except RefusedError as error:
            if error.status == _UNAUTHORIZED:
                self._server = None  # a key command may give another key by now
            raise

    def _opened(self) -> JsonServer:
        # Two threads may both make one; the connections of the one that is dropped are closed.
        server = self._server
        if server is None:
            key = self._key()
            if not key and self._url == SERVICE_URL:
                # Nothing is shown to a stranger who would only refuse it.
                raise UnavailableError(
                    "mem0's service wants a key; set memoryApiKey or memoryApiKeyCommand"
                )
            headers = {"Authorization": f"Token {key}"} if key else {}
            server = self._server = JsonServer(self._url, headers, secrets=[key])
        return server


def _metadata(about: Sequence[MemoryReference]) -> dict[str, object]:
    # A key for each place, as their filters look at the first level of metadata alone.
    return {ABOUT: ties(about), **{_key(tie): True for tie in about}} if about else {}


def _key(tie: MemoryReference) -> str:
    return f"rootle_at:{place(tie)}"


def _added_id(answer: Any) -> str:
    """The new memory's id; empty where it is made later."""
    status = answer.get("status", "SUCCEEDED") if isinstance(answer, dict) else None
    results = answer.get("results") if isinstance(answer, dict) else None
    if status == "PENDING":
        return ""
    if status != "SUCCEEDED" or not isinstance(results, list) or not results:
        raise ValueError(f"something else than a new memory: {json.dumps(answer):.80}")
    memory_id = results[0].get("id") if isinstance(results[0], dict) else None
    if not isinstance(memory_id, str) or not memory_id:
        raise ValueError("a new memory without an id")
    return memory_id


def _records(answer: Any) -> list[Memory]:
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise ValueError("something else than a list of memories")
    return [read_record(record) for record in results]


def _folded(found: Sequence[Memory]) -> list[Memory]:
    """One memory for each text, at its best place, dated when it was told last."""
    texts: dict[str, dict[str, Memory]] = {}
    for memory in found:
        texts.setdefault(plain(memory.text), {}).setdefault(memory.id, memory)
    return [_one(list(same.values())) for same in texts.values()]


def _one(same: Sequence[Memory]) -> Memory:
    latest = max(same, key=lambda memory: memory.created_at)
    count = sum(memory.count for memory in same)
    return replace(latest, count=count, score=max(memory.score for memory in same))
