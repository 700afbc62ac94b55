"""Both legs on OpenSearch, and the sparse one on Elasticsearch: what they have in common over REST.

Words come split and stemmed, as they stand in the embedded index, so that the server only has to
part them at the spaces: one token stream, whoever serves it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonLines
from rootle.index.remote.http_backend import HttpBackend, MissingError
from rootle.index.remote.protocol import NOTHING_HELD, RemoteChunk, Stamp, filter_sets, merged
from rootle.protocols import Ranked, Vector, WeightedTerm

# A query may name 65,536 values unless the server is told otherwise.
_LARGEST_FILTER: Final = 60_000
# With k = 3 its graph found 0.71 of the true neighbours, with k = 50 0.99.
_LEAST_ASKED: Final = 100
_MOST_ASKED: Final = 10_000
_STAMP: Final = "stamp"
_COMMON: Final = {
    "chunk": {"type": "long"},
    "file": {"type": "long"},
    "path": {"type": "keyword"},
    "language": {"type": "keyword"},
    "startLine": {"type": "integer", "index": False},
    "endLine": {"type": "integer", "index": False},
    "generation": {"type": "long"},
    "whole": {"type": "boolean"},
}
# A term is looked for, never a phrase: no positions.
_BODY: Final = {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}


@dataclass(frozen=True, slots=True)
class _Shape:
    """What sets the index of one leg apart."""

    fields: Callable[[int], Mapping[str, object]]  # from the dimensions
    document: Callable[[RemoteChunk], Mapping[str, object]]  # empty: nothing to search there
    settings: Mapping[str, object] = field(default_factory=dict)


class OpenSearchIndex:
    """One index of one leg. The stamp is a document of its own in it."""

    def __init__(self, server: HttpBackend, name: str, shape: _Shape) -> None:
        self._server = server
        self._name = name
        self._shape = shape

    def held(self, dimensions: int) -> Stamp | None:
        try:
            found = self._server.ask("GET", f"/{self._name}/_mapping")
        except MissingError:
            return None
        with self._server.reading():
            mapping = next(iter(found.values()))["mappings"].get("properties", {})
            vector = mapping.get("vector", {}).get("dimension", dimensions)
        return self._stamp() if vector == dimensions and "chunk" in mapping else None

    def create(self, dimensions: int) -> None:
        self.drop()
        self._server.ask(
            "PUT",
            f"/{self._name}",
            {
                "settings": self._shape.settings,
                "mappings": {
                    "dynamic": "strict",
                    "properties": {**_COMMON, **self._shape.fields(dimensions)},
                },
            },
        )
        self.settle(Stamp(NOTHING_HELD, is_whole=False))

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        lines: list[object] = []
        for chunk in chunks:
            own = self._shape.document(chunk)
            if own:
                lines += [{"index": {"_id": str(chunk.id)}}, {**chunk.stored, **own}]
        if not lines:
            return
        answer = self._server.ask("POST", f"/{self._name}/_bulk", JsonLines(lines))
        with self._server.reading():
            if answer["errors"]:
                self._refuse_bulk(answer)

    def prune(self, live: Mapping[int, Sequence[int]]) -> None:
        # What was written a moment ago is not seen by a search before a refresh.
        self._server.ask("POST", f"/{self._name}/_refresh")
        kept = [chunk_id for chunks in live.values() for chunk_id in chunks]
        others = {"filter": {"terms": {"file": list(live)}}}
        if kept:
            others["must_not"] = {"terms": {"chunk": kept}}
        self._server.ask(
            "POST",
            f"/{self._name}/_delete_by_query?conflicts=proceed&refresh=true",
            {"query": {"bool": others}},
        )

    def settle(self, stamp: Stamp) -> None:
        self._server.ask("POST", f"/{self._name}/_refresh")
        self._server.ask(
            "PUT",
            f"/{self._name}/_doc/{_STAMP}",
            {"generation": stamp.generation, "whole": stamp.is_whole},
        )

    def count(self) -> int:
        chunks = {"query": {"exists": {"field": "chunk"}}}
        found = self._server.ask("POST", f"/{self._name}/_count", chunks)
        with self._server.reading():
            return int(found["count"])

    def holds(self, chunk_id: int) -> bool:
        return self._server.has(f"/{self._name}/_doc/{chunk_id}?_source=false")

    def drop(self) -> None:
        self._server.remove(f"/{self._name}")

    def _stamp(self, timeout_s: float | None = None) -> Stamp | None:
        try:
            found = self._server.ask("GET", f"/{self._name}/_doc/{_STAMP}", timeout_s=timeout_s)
        except MissingError:
            return None
        with self._server.reading():
            source = found["_source"]
            return Stamp(int(source["generation"]), source["whole"] is True)

    def _search(
        self, body: Mapping[str, object], timeout_s: float
    ) -> tuple[list[int], list[float]]:
        answer = self._server.ask(
            "POST",
            f"/{self._name}/_search?_source=false",
            {"track_total_hits": False, **body},
            timeout_s=timeout_s,
        )
        with self._server.reading():
            if answer["timed_out"] or answer["_shards"]["failed"]:
                raise UnavailableError(f"{self._server.name} answered from a part of its index")
            hits = answer["hits"]["hits"]
            return [int(hit["_id"]) for hit in hits], [float(hit["_score"]) for hit in hits]

    def _refuse_bulk(self, answer: Mapping[str, Any]) -> NoReturn:  # Any: JSON of the server
        failed = [item["index"] for item in answer["items"] if item["index"]["status"] >= 300]
        first = failed[0]
        reason = first["error"].get("reason", first["error"]["type"])
        message = f"{self._server.name} refused {len(failed)} chunks: {reason}"
        if all(item["status"] == 429 or item["status"] >= 500 for item in failed):
            raise UnavailableError(message)
        raise RefusedError(message, first["status"])


class OpenSearchDense(OpenSearchIndex):
    """Nearest neighbours by cosine."""

    def __init__(self, server: HttpBackend, name: str) -> None:
        super().__init__(server, name, _Shape(_vector_field, _vector_of, {"index": {"knn": True}}))

    def query(
        self, vector: Vector, k: int, files: Collection[int] | None, timeout_s: float
    ) -> tuple[Stamp | None, Ranked]:
        stamp = self._stamp(timeout_s)
        parts = []
        for allowed in filter_sets(files, _LARGEST_FILTER):
            near: dict[str, object] = {
                "vector": vector.tolist(),
                "k": min(max(k, _LEAST_ASKED), _MOST_ASKED),
            }
            if allowed is not None:
                near["filter"] = {"terms": {"file": allowed}}
            asked = {"size": k, "query": {"knn": {"vector": near}}}
            ids, scores = self._search(asked, timeout_s)
            # Its score is (1 + cosine) / 2, so that it is never below 0.
            parts.append((ids, [2.0 * score - 1.0 for score in scores]))
        return stamp, merged(parts, k)


def _vector_field(dimensions: int) -> Mapping[str, object]:
    # Of its engines the one that applies a filter before it looks for neighbours, and looks at all
    # that pass where they are few.
    method = {"engine": "lucene", "name": "hnsw", "space_type": "cosinesimil"}
    graph = {"ef_construction": 128, "m": 24}
    kind = {"type": "knn_vector", "dimension": dimensions}
    return {"vector": {**kind, "method": {**method, "parameters": graph}}}


def _vector_of(chunk: RemoteChunk) -> Mapping[str, object]:
    return {} if chunk.vector is None else {"vector": chunk.vector.tolist()}


class OpenSearchSparse(OpenSearchIndex):
    """BM25 over the words of chunks."""

    def __init__(self, server: HttpBackend, name: str) -> None:
        shape = _Shape(lambda _: {"body": _BODY}, lambda chunk: {"body": chunk.terms})
        super().__init__(server, name, shape)

    def query(
        self,
        terms: Sequence[WeightedTerm],
        k: int,
        files: Collection[int] | None,
        timeout_s: float,
    ) -> tuple[Stamp | None, Ranked]:
        stamp = self._stamp(timeout_s)
        any_of = [{"term": {"body": {"value": t.text, "boost": t.weight}}} for t in terms]
        parts = []
        for allowed in filter_sets(files, _LARGEST_FILTER) if terms else ():
            wanted: dict[str, object] = {"should": any_of, "minimum_should_match": 1}
            if allowed is not None:
                wanted["filter"] = {"terms": {"file": allowed}}
            asked = {"size": min(k, _MOST_ASKED), "query": {"bool": wanted}}
            parts.append(self._search(asked, timeout_s))
        return stamp, merged(parts, k)
