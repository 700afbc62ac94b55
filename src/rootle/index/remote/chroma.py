"""The dense leg on a Chroma server, over version 2 of its HTTP interface."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from rootle.index.remote.http_backend import HttpBackend, MissingError
from rootle.index.remote.protocol import NOTHING_HELD, RemoteChunk, Stamp, filter_sets, merged
from rootle.protocols import Ranked, Vector

# Its filters become SQL with a variable for each value, of which SQLite takes 32,766.
_LARGEST_FILTER: Final = 8_000
# What its graph is searched with. More than is asked for at most: with 50 of 5,000 vectors asked
# for, and with 200, 99 % of the true neighbours came back.
_GRAPH: Final = {"space": "cosine", "ef_construction": 128, "ef_search": 256, "max_neighbors": 24}
_GENERATION: Final = "rootle_generation"
_WHOLE: Final = "rootle_whole"


class ChromaDense:
    """One collection. The stamp is its metadata."""

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

    def held(self, dimensions: int) -> Stamp | None:
        try:
            found = self._server.ask("GET", f"{self._root}/{self._name}")
        except MissingError:
            return None
        with self._server.reading():
            return _stamp(found) if found.get("dimension") in (None, dimensions) else None

    def create(self, dimensions: int) -> None:  # noqa: ARG002 (it learns them from the vectors)
        self.drop()
        stamp = {_GENERATION: NOTHING_HELD, _WHOLE: False}
        made = self._server.ask(
            "POST",
            self._root,
            {"name": self._name, "configuration": {"hnsw": _GRAPH}, "metadata": stamp},
        )
        with self._server.reading():
            self._known_id = str(made["id"])

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        with_vectors = [chunk for chunk in chunks if chunk.vector is not None]
        if not with_vectors:
            return
        self._tell(
            "upsert",
            {
                "ids": [str(chunk.id) for chunk in with_vectors],
                "embeddings": [
                    chunk.vector.tolist() for chunk in with_vectors if chunk.vector is not None
                ],
                "metadatas": [chunk.stored for chunk in with_vectors],
            },
        )

    def prune(self, live: Mapping[int, Sequence[int]]) -> None:
        kept = [chunk_id for chunks in live.values() for chunk_id in chunks]
        of_files = {"file": {"$in": list(live)}}
        others = {"chunk": {"$nin": kept}}
        self._tell("delete", {"where": {"$and": [of_files, others]} if kept else of_files})

    def settle(self, stamp: Stamp) -> None:
        self._server.ask(
            "PUT",
            f"{self._root}/{self._id()}",
            {"new_metadata": {_GENERATION: stamp.generation, _WHOLE: stamp.is_whole}},
        )

    def count(self) -> int:
        found = self._server.ask("GET", f"{self._root}/{self._id()}/count")
        with self._server.reading():
            return int(found)

    def holds(self, chunk_id: int) -> bool:
        asked = {"ids": [str(chunk_id)], "include": []}
        found = self._server.ask("POST", f"{self._root}/{self._id()}/get", asked)
        with self._server.reading():
            return bool(found["ids"])

    def drop(self) -> None:
        self._server.remove(f"{self._root}/{self._name}")

    def query(
        self, vector: Vector, k: int, files: Collection[int] | None, timeout_s: float
    ) -> tuple[Stamp | None, Ranked]:
        found = self._server.ask("GET", f"{self._root}/{self._name}", timeout_s=timeout_s)
        with self._server.reading():
            stamp, place = _stamp(found), f"{self._root}/{found['id']}/query"
        parts = []
        for allowed in filter_sets(files, _LARGEST_FILTER):
            asked: dict[str, object] = {
                "query_embeddings": [vector.tolist()],
                "n_results": k,
                "include": ["distances"],
            }
            if allowed is not None:
                asked["where"] = {"file": {"$in": allowed}}
            answer = self._server.ask("POST", place, asked, timeout_s=timeout_s)
            with self._server.reading():
                ids = [int(chunk_id) for chunk_id in answer["ids"][0]]
                parts.append((ids, [1.0 - distance for distance in answer["distances"][0]]))
        return stamp, merged(parts, k)

    def _id(self) -> str:
        """Writing goes by the id that the server gave; another one for every collection made."""
        if not self._known_id:
            found = self._server.ask("GET", f"{self._root}/{self._name}")
            with self._server.reading():
                self._known_id = str(found["id"])
        return self._known_id

    def _tell(self, what: str, body: object) -> None:
        self._server.ask("POST", f"{self._root}/{self._id()}/{what}", body)


def _stamp(found: Mapping[str, Any]) -> Stamp | None:  # Any: JSON of the server
    metadata = found.get("metadata") or {}
    if not isinstance(metadata.get(_GENERATION), int):
        return None  # a collection that somebody else made
    return Stamp(metadata[_GENERATION], metadata.get(_WHOLE) is True)
