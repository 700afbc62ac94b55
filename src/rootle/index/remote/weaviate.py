"""Both legs on a Weaviate server, over REST, and GraphQL for questions.

Its own tokenisation leaves `parseHttpRequest` whole, so words come split and stemmed, as they stand
in the embedded index, and it only parts them at the spaces.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from rootle.errors import RefusedError, UnavailableError
from rootle.index.remote.http_backend import WRITE_TIMEOUT_S, HttpBackend, MissingError
from rootle.index.remote.protocol import NOTHING_HELD, RemoteChunk, Stamp, filter_sets, merged
from rootle.protocols import Ranked, Vector, WeightedTerm

_LARGEST_FILTER: Final = 20_000
_MOST_ASKED: Final = 10_000  # its QUERY_MAXIMUM_RESULTS, unless it is told otherwise
# A word that is named several times counts so much more: weights have no other place in a question.
_MOST_TIMES: Final = 8
_IDS: Final = uuid.UUID("6e1f6a0c-2f0b-4f43-9d4e-0c5f2f6d8a11")  # under which chunk ids are named
_STAMP: Final = str(uuid.uuid5(_IDS, "stamp"))
_KINDS: Final = {
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
    """One class of one leg. The stamp is an object of its own in it."""

    def __init__(self, server: HttpBackend, name: str, vectors: Mapping[str, object]) -> None:
        self._server = server
        self._class = "R" + name[1:].replace("-", "_")  # a capital first, and no "-"
        self._vectors = vectors

    def held(self, dimensions: int) -> Stamp | None:  # noqa: ARG002 (it refuses other vectors)
        return self._stamp()

    def create(self, dimensions: int) -> None:  # noqa: ARG002 (it learns them from the vectors)
        self.drop()
        self._server.ask(
            "POST",
            "/v1/schema",
            {
                "class": self._class,
                "vectorizer": "none",
                "vectorIndexConfig": self._vectors,
                "invertedIndexConfig": {"stopwords": {"preset": "none"}},
                "properties": [_property(name, kind) for name, kind in _KINDS.items()],
            },
        )
        self.settle(Stamp(NOTHING_HELD, is_whole=False))

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        objects = [found for chunk in chunks if (found := self._object(chunk))]
        if objects:
            self._write(objects)

    def prune(self, live: Mapping[int, Sequence[int]]) -> None:
        where = {"operator": "Or", "operands": [_others(at, own) for at, own in live.items()]}
        while True:
            answer = self._server.ask(
                "DELETE", "/v1/batch/objects", {"match": {"class": self._class, "where": where}}
            )
            with self._server.reading():
                found = answer["results"]
                if found["failed"]:
                    raise UnavailableError(f"{self._server.name} did not delete all that it should")
                if found["matches"] < found["limit"]:
                    return

    def settle(self, stamp: Stamp) -> None:
        properties = {"generation": stamp.generation, "whole": stamp.is_whole}
        self._write([{"class": self._class, "id": _STAMP, "properties": properties}])

    def count(self) -> int:
        where = 'where: {path: ["chunk"], operator: GreaterThan, valueInt: -1}'
        question = f"{{Aggregate {{{self._class}({where}) {{meta {{count}}}}}}}}"
        answer = self._ask(question, WRITE_TIMEOUT_S)
        with self._server.reading():
            return int(answer["Aggregate"][self._class][0]["meta"]["count"])

    def holds(self, chunk_id: int) -> bool:
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
        answer = self._server.ask("POST", "/v1/batch/objects", {"objects": list(objects)})
        with self._server.reading():
            refused = [found["result"]["errors"] for found in answer if _errors(found)]
        if refused:
            said = json.dumps(refused[0])[:200]
            raise RefusedError(f"{self._server.name} refused {len(refused)} chunks: {said}", 422)

    def _stamp(self, timeout_s: float | None = None) -> Stamp | None:
        try:
            found = self._server.ask(
                "GET", f"/v1/objects/{self._class}/{_STAMP}", timeout_s=timeout_s
            )
        except MissingError:
            return None
        with self._server.reading():
            properties = found["properties"]
            return Stamp(int(properties["generation"]), properties["whole"] is True)

    def _best(
        self, search: str, k: int, files: Collection[int] | None, score: str, timeout_s: float
    ) -> list[tuple[list[int], list[float]]]:
        """The chunks of a search with their scores, for each part of the filter."""
        parts = []
        for allowed in filter_sets(files, _LARGEST_FILTER):
            where = ""
            if allowed is not None:
                where = f', where: {{path: ["file"], operator: ContainsAny, valueInt: {allowed}}}'
            limit = min(k, _MOST_ASKED)
            answer = self._ask(
                f"{{Get {{{self._class}(limit: {limit}, {search}{where}) "
                f"{{chunk _additional {{{score}}}}}}}}}",
                timeout_s,
            )
            with self._server.reading():
                found = answer["Get"][self._class]
                scores = [float(hit["_additional"][score]) for hit in found]
                parts.append(([int(hit["chunk"]) for hit in found], scores))
        return parts

    def _ask(self, question: str, timeout_s: float) -> Any:  # Any: JSON of the server
        answer = self._server.ask("POST", "/v1/graphql", {"query": question}, timeout_s=timeout_s)
        with self._server.reading():
            if answer.get("errors"):
                said = str(answer["errors"][0]["message"])[:200]
                raise UnavailableError(f"{self._server.name} cannot answer: {said}")
            return answer["data"]


class WeaviateDense(WeaviateIndex):
    """Nearest neighbours by cosine; where few files pass a filter it looks at all of theirs."""

    def __init__(self, server: HttpBackend, name: str) -> None:
        super().__init__(server, name, {"distance": "cosine", "ef": 256})

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        super().put([chunk for chunk in chunks if chunk.vector is not None])

    def query(
        self, vector: Vector, k: int, files: Collection[int] | None, timeout_s: float
    ) -> tuple[Stamp | None, Ranked]:
        stamp = self._stamp(timeout_s)
        if stamp is None:
            return None, merged([], k)
        search = f"nearVector: {{vector: {json.dumps(vector.tolist())}}}"
        parts = self._best(search, k, files, "distance", timeout_s)
        return stamp, merged([(ids, [1.0 - far for far in found]) for ids, found in parts], k)


class WeaviateSparse(WeaviateIndex):
    """BM25 over the words of chunks."""

    def __init__(self, server: HttpBackend, name: str) -> None:
        super().__init__(server, name, {"skip": True})

    def query(
        self,
        terms: Sequence[WeightedTerm],
        k: int,
        files: Collection[int] | None,
        timeout_s: float,
    ) -> tuple[Stamp | None, Ranked]:
        stamp = self._stamp(timeout_s)
        if stamp is None or not terms:
            return stamp, merged([], k)
        search = f'bm25: {{query: {json.dumps(_weighted(terms))}, properties: ["body"]}}'
        return stamp, merged(self._best(search, k, files, "score", timeout_s), k)


def _weighted(terms: Sequence[WeightedTerm]) -> str:
    """The terms, each as often as it weighs more than the lightest."""
    lightest = min(term.weight for term in terms)
    times = [min(_MOST_TIMES, round(term.weight / lightest)) for term in terms]
    return " ".join(" ".join([t.text] * n) for t, n in zip(terms, times, strict=True))


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


def _others(file_id: int, live: Sequence[int]) -> dict[str, object]:
    """What a file had before it was written again: ids only grow, so below all that it has now."""
    of_file = {"path": ["file"], "operator": "Equal", "valueInt": file_id}
    if not live:
        return of_file
    older = {"path": ["chunk"], "operator": "LessThan", "valueInt": min(live)}
    return {"operator": "And", "operands": [of_file, older]}


def _errors(found: Mapping[str, Any]) -> bool:
    return bool((found.get("result") or {}).get("errors"))
