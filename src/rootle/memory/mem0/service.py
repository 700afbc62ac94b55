"""Memory store on a mem0 server, through version 3 of the HTTP API of mem0's hosted service."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonServer
from rootle.memory.mem0.record import (
    ABOUT,
    entity_id,
    normalize_text,
    read_record,
    reference_key,
    write_origin,
    write_references,
)
from rootle.serialization.timestamps import format_timestamp
from rootle.types import Memory, MemoryOrigin, MemoryReference

SERVICE_URL: Final = "https://api.mem0.ai"
_ADD: Final = "/v3/memories/add/"
_SEARCH: Final = "/v3/memories/search/"
_TIMEOUT_S: Final = 10.0  # short, because an agent waits for each request
_MAX_TOP_K: Final = 1_000  # the maximum of the service for one request
_UNAUTHORIZED: Final = 401

_Result = TypeVar("_Result")


class Mem0Service:
    """A MemoryStore on a mem0 server. The API key is read before the first request."""

    def __init__(
        self,
        key: Callable[[], str],
        *,
        endpoint: str = "",
        timeout_s: float = _TIMEOUT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create a store. Raise ConfigError if the endpoint is not a URL."""
        self._key = key
        self._url = endpoint or SERVICE_URL
        JsonServer(self._url)  # checks the URL
        self._timeout_s = timeout_s
        self._clock = clock
        self._server: JsonServer | None = None

    def add(
        self,
        text: str,
        user_id: str,
        about: Sequence[MemoryReference] = (),
        origin: MemoryOrigin | None = None,
    ) -> Memory | None:
        """Store a text verbatim; return None if the service processes it later."""
        text = text.strip()
        body = {
            "messages": [{"role": "user", "content": text}],
            "user_id": entity_id(user_id),
            "metadata": {**_write_metadata(about), **write_origin(origin)},
            "infer": False,  # otherwise a language model rewrites the text
        }
        memory_id = self._post(_ADD, body, _read_added_id)
        now = format_timestamp(self._clock())
        if not memory_id:
            return None
        return Memory(
            memory_id,
            text,
            now,
            about=tuple(about),
            stored_in=(origin.root,) if origin and origin.root else (),
            is_personal=origin is not None and origin.is_personal,
        )

    def search(
        self, topic: str, user_id: str, top_k: int, about: Sequence[MemoryReference] = ()
    ) -> list[Memory]:
        """Return at most `top_k` memories: those that refer to `about`, then the best matches.

        The service stores repeated texts separately. They are merged into one memory with a count.
        """
        of_user = {"user_id": entity_id(user_id)}
        found: list[Memory] = []
        if about:
            # The service's filters do not accept a list of values for one key.
            places = [{"metadata": {_metadata_key(reference): True}} for reference in about]
            referring = {"AND": [of_user, {"OR": places}]}
            found += self._query(topic or about[0].path, referring, top_k, threshold=0.0)
        if topic.strip():
            found += self._query(topic, of_user, top_k)
        return _merge_repeated(found)[:top_k]

    def _query(
        self, topic: str, filters: Mapping[str, object], top_k: int, **options: object
    ) -> list[Memory]:
        limit = min(top_k, _MAX_TOP_K)
        body = {"query": topic, "filters": filters, "top_k": limit, **options}
        return self._post(_SEARCH, body, _read_memories)[:top_k]

    def _post(self, path: str, body: object, read: Callable[[Any], _Result]) -> _Result:
        def read_answer(answer: Any) -> _Result:  # Any: parsed JSON
            try:
                return read(answer)
            except ValueError as error:
                raise UnavailableError(f"mem0's service sent {error}") from error

        server = self._open_server()
        try:
            return server.post(path, body, timeout_s=self._timeout_s, read=read_answer)
        except RefusedError as error:
            if error.status == _UNAUTHORIZED:
                self._server = None  # the next request reads the key again
            raise

    def _open_server(self) -> JsonServer:
        # Two threads may each create a JsonServer. The one that is not kept is garbage-collected.
        server = self._server
        if server is None:
            key = self._key()
            if not key and self._url == SERVICE_URL:
                # Without a key, the hosted service would receive the content but reject it.
                raise UnavailableError(
                    "mem0's service requires a key; set memoryApiKey or memoryApiKeyCommand"
                )
            headers = {"Authorization": f"Token {key}"} if key else {}
            server = self._server = JsonServer(self._url, headers, secrets=[key])
        return server


def _write_metadata(about: Sequence[MemoryReference]) -> dict[str, object]:
    # The filters of the service apply only to top-level keys of the metadata, so each reference is
    # stored under its own key.
    keys = {_metadata_key(reference): True for reference in about}
    return {ABOUT: write_references(about), **keys} if about else {}


def _metadata_key(reference: MemoryReference) -> str:
    return f"rootle_at:{reference_key(reference)}"


def _read_added_id(answer: Any) -> str:
    """Return the id of the added memory; empty if the service creates it later."""
    status = answer.get("status", "SUCCEEDED") if isinstance(answer, dict) else None
    results = answer.get("results") if isinstance(answer, dict) else None
    if status == "PENDING":
        return ""
    if status != "SUCCEEDED" or not isinstance(results, list) or not results:
        raise ValueError(f"something other than a new memory: {json.dumps(answer):.80}")
    memory_id = results[0].get("id") if isinstance(results[0], dict) else None
    if not isinstance(memory_id, str) or not memory_id:
        raise ValueError("a new memory without an id")
    return memory_id


def _read_memories(answer: Any) -> list[Memory]:
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise ValueError("something other than a list of memories")
    return [read_record(record) for record in results]


def _merge_repeated(found: Sequence[Memory]) -> list[Memory]:
    """Return one memory per text, at its best position, with the time of the last repetition."""
    texts: dict[str, dict[str, Memory]] = {}
    for memory in found:
        texts.setdefault(normalize_text(memory.text), {}).setdefault(memory.id, memory)
    return [_merge(list(same.values())) for same in texts.values()]


def _merge(same: Sequence[Memory]) -> Memory:
    latest = max(same, key=lambda memory: memory.created_at)
    count = sum(memory.count for memory in same)
    return replace(
        latest,
        count=count,
        score=max(memory.score for memory in same),
        stored_in=tuple(dict.fromkeys(root for memory in same for root in memory.stored_in)),
        is_personal=any(memory.is_personal for memory in same),
    )
