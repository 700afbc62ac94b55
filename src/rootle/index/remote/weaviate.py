"""Dense and sparse retrieval on a Weaviate server, over REST, with GraphQL for queries.

The tokenizer of Weaviate does not split `parseHttpRequest`. Text is therefore split into terms and
stemmed before it is sent, as in the embedded index, and the server only splits it at spaces.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from rootle.errors import RefusedError, UnavailableError
from rootle.index.remote.http_backend import WRITE_TIMEOUT_S, HttpBackend, MissingError
from rootle.index.remote.protocol import (
    EMPTY_GENERATION,
    RemoteChunk,
    Stamp,
    merge_hits,
    split_filter,
)
from rootle.protocols import RankedIds, Vector, WeightedTerm

_MAX_FILTER_IDS: Final = 20_000
_MAX_K: Final = 10_000  # the default QUERY_MAXIMUM_RESULTS
# The API has no term weights. Instead, a term is repeated in the query, at most this many times.
_MAX_REPEATS: Final = 8
# Terms below this share of the highest weight, such as "the", are left out. While Weaviate has new
# chunks in memory, it does not return the best chunks for a query with a frequent term.
_MIN_WEIGHT_SHARE: Final = 0.2
# Namespace of the UUIDs of chunk ids.
_IDS: Final = uuid.UUID("6e1f6a0c-2f0b-4f43-9d4e-0c5f2f6d8a11")
_STAMP: Final = str(uuid.uuid5(_IDS, "stamp"))
_PROPERTIES: Final = {
    "chunk": "int",
    "file": "int",
    "path": "text",
    "language": "text",
    "startLine": "int",
    "endLine": "int",
    "generation": "int",
    "whole": "boolean",
    "body": "text",
}
_SEARCHED: Final = frozenset({"body"})
_FILTERED: Final = frozenset({"chunk", "file"})


class WeaviateIndex:
    """A replica in one class. The stamp is a separate object in it."""

    def __init__(self, server: HttpBackend, name: str, vectors: Mapping[str, object]) -> None:
        self._server = server
        # Class names start with a capital letter and contain no "-".
        self._class = "R" + name[1:].replace("-", "_")
        self._vectors = vectors

    def read_stamp(self, dimensions: int) -> Stamp | None:  # noqa: ARG002 - the server rejects other vectors
        return self._stamp()

    def create(self, dimensions: int) -> None:  # noqa: ARG002 - the server infers it
        self.drop()
        self._server.request(
            "POST",
            "/v1/schema",
            {
                "class": self._class,
                "vectorizer": "none",
                "vectorIndexConfig": self._vectors,
                "invertedIndexConfig": {"stopwords": {"preset": "none"}},
                "properties": [_property(name, kind) for name, kind in _PROPERTIES.items()],
            },
        )
        self.commit(Stamp(EMPTY_GENERATION, is_complete=False))

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        objects = [found for chunk in chunks if (found := self._object(chunk))]
        if objects:
            self._write(objects)

    def delete_stale(self, live: Mapping[int, Sequence[int]]) -> None:
        where = {
            "operator": "Or",
            "operands": [_stale(file, chunks) for file, chunks in live.items()],
        }
        while True:
            answer = self._server.request(
                "DELETE", "/v1/batch/objects", {"match": {"class": self._class, "where": where}}
            )
            with self._server.reading():
                found = answer["results"]
                if found["failed"]:
                    raise UnavailableError(f"{self._server.name} did not delete all stale chunks")
                if found["matches"] < found["limit"]:
                    return

    def commit(self, stamp: Stamp) -> None:
        properties = {"generation": stamp.generation, "whole": stamp.is_complete}
        self._write([{"class": self._class, "id": _STAMP, "properties": properties}])

    def count(self) -> int:
        where = 'where: {path: ["chunk"], operator: GreaterThan, valueInt: -1}'
        query = f"{{Aggregate {{{self._class}({where}) {{meta {{count}}}}}}}}"
        answer = self._query(query, WRITE_TIMEOUT_S)
        with self._server.reading():
            return int(answer["Aggregate"][self._class][0]["meta"]["count"])

    def contains(self, chunk_id: int) -> bool:
        return self._server.has(f"/v1/objects/{self._class}/{uuid.uuid5(_IDS, str(chunk_id))}")

    def drop(self) -> None:
        self._server.remove(f"/v1/schema/{self._class}")

    def _object(self, chunk: RemoteChunk) -> dict[str, object]:
        properties = chunk.stored
        if chunk.terms:
            properties["body"] = chunk.terms
        name = str(uuid.uuid5(_IDS, str(chunk.id)))
        found: dict[str, object] = {"class": self._class, "id": name, "properties": properties}
        if chunk.vector is not None:
            found["vector"] = chunk.vector.tolist()
        return found

    def _write(self, objects: Sequence[Mapping[str, object]]) -> None:
        answer = self._server.request("POST", "/v1/batch/objects", {"objects": list(objects)})
        with self._server.reading():
            refused = [found["result"]["errors"] for found in answer if _has_errors(found)]
        if refused:
            reason = json.dumps(refused[0])[:200]
            raise RefusedError(f"{self._server.name} rejected {len(refused)} chunks: {reason}", 422)

    def _stamp(self, timeout_s: float | None = None) -> Stamp | None:
        try:
            found = self._server.request(
                "GET", f"/v1/objects/{self._class}/{_STAMP}", timeout_s=timeout_s
            )
        except MissingError:
            return None
        with self._server.reading():
            properties = found["properties"]
            return Stamp(int(properties["generation"]), properties["whole"] is True)

    def _search(
        self, search: str, k: int, files: Collection[int] | None, score: str, timeout_s: float
    ) -> list[tuple[list[int], list[float]]]:
        """Return the ids and scores of a search, for each part of the filter."""
        parts = []
        for allowed in split_filter(files, _MAX_FILTER_IDS):
            where = ""
            if allowed is not None:
                where = f', where: {{path: ["file"], operator: ContainsAny, valueInt: {allowed}}}'
            limit = min(k, _MAX_K)
            answer = self._query(
                f"{{Get {{{self._class}(limit: {limit}, {search}{where}) "
                f"{{chunk _additional {{{score}}}}}}}}}",
                timeout_s,
            )
            with self._server.reading():
                found = answer["Get"][self._class]
                scores = [float(hit["_additional"][score]) for hit in found]
                parts.append(([int(hit["chunk"]) for hit in found], scores))
        return parts

    def _query(self, query: str, timeout_s: float) -> Any:  # Any: JSON of the server
        answer = self._server.request("POST", "/v1/graphql", {"query": query}, timeout_s=timeout_s)
        with self._server.reading():
            if answer.get("errors"):
                reason = str(answer["errors"][0]["message"])[:200]
                raise UnavailableError(f"{self._server.name} cannot answer: {reason}")
            return answer["data"]


class WeaviateDense(WeaviateIndex):
    """A replica for nearest-neighbor search. The search is exact if few files pass a filter."""

    def __init__(self, server: HttpBackend, name: str) -> None:
        super().__init__(server, name, {"distance": "cosine", "ef": 256})

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        super().put([chunk for chunk in chunks if chunk.vector is not None])

    def query(
        self, vector: Vector, k: int, files: Collection[int] | None, timeout_s: float
    ) -> tuple[Stamp | None, RankedIds]:
        stamp = self._stamp(timeout_s)
        if stamp is None:
            return None, merge_hits([], k)
        search = f"nearVector: {{vector: {json.dumps(vector.tolist())}}}"
        parts = self._search(search, k, files, "distance", timeout_s)
        return stamp, merge_hits(
            [(ids, [1.0 - distance for distance in found]) for ids, found in parts], k
        )


class WeaviateSparse(WeaviateIndex):
    """A replica for BM25 over chunks."""

    def __init__(self, server: HttpBackend, name: str) -> None:
        super().__init__(server, name, {"skip": True})

    def query(
        self,
        terms: Sequence[WeightedTerm],
        k: int,
        files: Collection[int] | None,
        timeout_s: float,
    ) -> tuple[Stamp | None, RankedIds]:
        stamp = self._stamp(timeout_s)
        if stamp is None or not terms:
            return stamp, merge_hits([], k)
        search = f'bm25: {{query: {json.dumps(_repeat_terms(terms))}, properties: ["body"]}}'
        return stamp, merge_hits(self._search(search, k, files, "score", timeout_s), k)


def _repeat_terms(terms: Sequence[WeightedTerm]) -> str:
    """Repeat the terms in proportion to their weights. Terms of small weight are left out."""
    least = max(term.weight for term in terms) * _MIN_WEIGHT_SHARE
    terms = [term for term in terms if term.weight >= least]
    lightest = min(term.weight for term in terms)
    repeats = [min(_MAX_REPEATS, round(term.weight / lightest)) for term in terms]
    return " ".join(" ".join([t.text] * n) for t, n in zip(terms, repeats, strict=True))


def _property(name: str, kind: str) -> dict[str, object]:
    found: dict[str, object] = {
        "name": name,
        "dataType": [kind],
        "indexFilterable": name in _FILTERED,
        "indexRangeFilters": name == "chunk",
        "indexSearchable": name in _SEARCHED,
    }
    if kind == "text":
        found["tokenization"] = "whitespace"
    return found


def _stale(file_id: int, live: Sequence[int]) -> dict[str, object]:
    """Return a filter for the stale chunks of a file, which have smaller ids than the live ones."""
    of_file = {"path": ["file"], "operator": "Equal", "valueInt": file_id}
    if not live:
        return of_file
    older = {"path": ["chunk"], "operator": "LessThan", "valueInt": min(live)}
    return {"operator": "And", "operands": [of_file, older]}


def _has_errors(found: Mapping[str, Any]) -> bool:
    return bool((found.get("result") or {}).get("errors"))
