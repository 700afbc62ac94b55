"""Dense retrieval on a Chroma server, over version 2 of its HTTP API."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from rootle.index.remote.http_backend import HttpBackend, MissingError
from rootle.index.remote.protocol import (
    EMPTY_GENERATION,
    RemoteChunk,
    Stamp,
    merge_hits,
    split_filter,
)
from rootle.protocols import RankedIds, Vector

# The maximum number of ids in a filter. Chroma turns filters into SQL with a variable per value,
# and SQLite allows 32,766 variables.
_MAX_FILTER_IDS: Final = 8_000
# HNSW parameters. ef_search exceeds the usual values of k. In a collection of 5,000 vectors, 99% of
# the true neighbors were returned, both with k = 50 and with k = 200.
_HNSW: Final = {"space": "cosine", "ef_construction": 128, "ef_search": 256, "max_neighbors": 24}
_GENERATION: Final = "rootle_generation"
_COMPLETE: Final = "rootle_complete"


class ChromaDense:
    """A replica in one collection. The stamp is stored in its metadata."""

    def __init__(
        self,
        server: HttpBackend,
        name: str,
        *,
        tenant: str = "default_tenant",
        database: str = "default_database",
    ) -> None:
        self._server = server
        self._name = name
        place = f"tenants/{quote(tenant, safe='')}/databases/{quote(database, safe='')}"
        self._root = f"/api/v2/{place}/collections"
        self._known_id = ""

    def read_stamp(self, dimensions: int) -> Stamp | None:
        try:
            found = self._server.request("GET", f"{self._root}/{self._name}")
        except MissingError:
            return None
        with self._server.reading():
            return _stamp(found) if found.get("dimension") in (None, dimensions) else None

    def create(self, dimensions: int) -> None:  # noqa: ARG002 - the server infers it
        self.drop()
        stamp = {_GENERATION: EMPTY_GENERATION, _COMPLETE: False}
        created = self._server.request(
            "POST",
            self._root,
            {"name": self._name, "configuration": {"hnsw": _HNSW}, "metadata": stamp},
        )
        with self._server.reading():
            self._known_id = str(created["id"])

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        with_vectors = [chunk for chunk in chunks if chunk.vector is not None]
        if not with_vectors:
            return
        self._post(
            "upsert",
            {
                "ids": [str(chunk.id) for chunk in with_vectors],
                "embeddings": [
                    chunk.vector.tolist() for chunk in with_vectors if chunk.vector is not None
                ],
                "metadatas": [chunk.stored for chunk in with_vectors],
            },
        )

    def delete_stale(self, live: Mapping[int, Sequence[int]]) -> None:
        current = [chunk_id for chunks in live.values() for chunk_id in chunks]
        of_files = {"file": {"$in": list(live)}}
        others = {"chunk": {"$nin": current}}
        self._post("delete", {"where": {"$and": [of_files, others]} if current else of_files})

    def commit(self, stamp: Stamp) -> None:
        self._server.request(
            "PUT",
            f"{self._root}/{self._id()}",
            {"new_metadata": {_GENERATION: stamp.generation, _COMPLETE: stamp.is_complete}},
        )

    def count(self) -> int:
        found = self._server.request("GET", f"{self._root}/{self._id()}/count")
        with self._server.reading():
            return int(found)

    def contains(self, chunk_id: int) -> bool:
        body = {"ids": [str(chunk_id)], "include": []}
        found = self._server.request("POST", f"{self._root}/{self._id()}/get", body)
        with self._server.reading():
            return bool(found["ids"])

    def drop(self) -> None:
        self._server.remove(f"{self._root}/{self._name}")

    def query(
        self, vector: Vector, k: int, files: Collection[int] | None, timeout_s: float
    ) -> tuple[Stamp | None, RankedIds]:
        found = self._server.request("GET", f"{self._root}/{self._name}", timeout_s=timeout_s)
        with self._server.reading():
            stamp, url = _stamp(found), f"{self._root}/{found['id']}/query"
        parts = []
        for allowed in split_filter(files, _MAX_FILTER_IDS):
            body: dict[str, object] = {
                "query_embeddings": [vector.tolist()],
                "n_results": k,
                "include": ["distances"],
            }
            if allowed is not None:
                body["where"] = {"file": {"$in": allowed}}
            answer = self._server.request("POST", url, body, timeout_s=timeout_s)
            with self._server.reading():
                ids = [int(chunk_id) for chunk_id in answer["ids"][0]]
                parts.append((ids, [1.0 - distance for distance in answer["distances"][0]]))
        return stamp, merge_hits(parts, k)

    def _id(self) -> str:
        """Return the collection's id, which writes require. A new collection has a new id."""
        if not self._known_id:
            found = self._server.request("GET", f"{self._root}/{self._name}")
            with self._server.reading():
                self._known_id = str(found["id"])
        return self._known_id

    def _post(self, action: str, body: object) -> None:
        self._server.request("POST", f"{self._root}/{self._id()}/{action}", body)


def _stamp(found: Mapping[str, Any]) -> Stamp | None:  # Any: JSON of the server
    metadata = found.get("metadata") or {}
    if not isinstance(metadata.get(_GENERATION), int):
        return None  # a collection of another program
    return Stamp(metadata[_GENERATION], metadata.get(_COMPLETE) is True)
