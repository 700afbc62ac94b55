"""Adapters that give every backend the same interface for the conformance suites."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest
from real_servers import RealServer

from rootle.index.local.inverted_index.commit_state import create_index
from rootle.index.local.inverted_index.reader import EmbeddedSparse
from rootle.index.local.inverted_index.writer import ChunkTerms, FileTerms, SparseWriter
from rootle.index.local.vector_matrix.reader import EmbeddedDense
from rootle.index.local.vector_matrix.writer import DenseWriter
from rootle.index.remote.backends import Backend, dense_opener, open_server, sparse_opener
from rootle.index.remote.protocol import Leg, RemoteChunk, RemoteIndex, Stamp
from rootle.protocols import RankedIds, Vector, WeightedTerm
from rootle.storage.quantization import quantize

DIMENSIONS = 32
TIMEOUT_S = 20.0


OpenRemote = Callable[[str, Leg], RemoteIndex]


class DenseBench(Protocol):
    """A backend under test: it accepts files of chunks and returns chunk ids."""

    def write(self, files: Mapping[int, Mapping[int, Vector]]) -> None:
        """Replace the chunks of files; the argument maps file ids to chunk ids to vectors."""

    def remove(self, files: Sequence[int]) -> None: ...
    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> RankedIds: ...


class SparseBench(Protocol):
    """A backend for texts instead of vectors."""

    def write(self, files: Mapping[int, Mapping[int, str]]) -> None: ...
    def remove(self, files: Sequence[int]) -> None: ...
    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> RankedIds: ...


class _EmbeddedDense:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._generation = 0

    def write(self, files: Mapping[int, Mapping[int, Vector]]) -> None:
        writer = DenseWriter(self._folder, DIMENSIONS)
        writer.remove_files(files)
        for file_id, chunks in files.items():
            for chunk_id, vector in chunks.items():
                writer.add(chunk_id, file_id, quantize(vector[None, :])[0].tobytes())
        self._commit(writer)

    def remove(self, files: Sequence[int]) -> None:
        writer = DenseWriter(self._folder, DIMENSIONS)
        writer.remove_files(files)
        self._commit(writer)

    def _commit(self, writer: DenseWriter) -> None:
        self._generation += 1
        writer.commit(self._generation)

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> RankedIds:
        return EmbeddedDense(self._folder).query(vector, k, files)


class _EmbeddedSparse:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._generation = 0
        create_index(folder)

    def write(self, files: Mapping[int, Mapping[int, str]]) -> None:
        self._change(files, files)

    def remove(self, files: Sequence[int]) -> None:
        self._change(files, {})

    def _change(self, gone: Collection[int], files: Mapping[int, Mapping[int, str]]) -> None:
        writer = SparseWriter(self._folder)
        for file_id in gone:
            writer.remove_file(file_id)
        for file_id, chunks in files.items():
            writer.add_file(
                FileTerms(file_id, "", ""),
                [ChunkTerms(at, body, "", "", "", "") for at, body in chunks.items()],
            )
        self._generation += 1
        writer.commit(self._generation)

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> RankedIds:
        return EmbeddedSparse(self._folder).query(terms, k, files)


class _Remote:
    """A remote index, written as replication does: add chunks, delete stale ones, write the stamp.

    The stamp contains the generation to which the index was last updated.
    """

    def __init__(self, index: RemoteIndex, as_chunk: Callable[[int, int, Any], RemoteChunk]):
        self._index = index
        self._as_chunk = as_chunk
        self._generation = 0
        index.create(DIMENSIONS)

    def write(self, files: Mapping[int, Mapping[int, Any]]) -> None:
        chunks = [self._as_chunk(f, at, it) for f, own in files.items() for at, it in own.items()]
        for start in range(0, len(chunks), 400):
            self._index.put(chunks[start : start + 400])
        if self._generation:
            self._index.delete_stale({file_id: list(own) for file_id, own in files.items()})
        self._commit_changes()

    def remove(self, files: Sequence[int]) -> None:
        self._index.delete_stale(dict.fromkeys(files, ()))
        self._commit_changes()

    def _commit_changes(self) -> None:
        self._generation += 1
        self._index.commit(Stamp(self._generation, is_complete=True))

    def query(self, asked: Any, k: int, files: Collection[int] | None = None) -> RankedIds:
        index: Any = self._index  # a dense or a sparse index
        stamp, ranked = index.query(asked, k, files, TIMEOUT_S)
        assert stamp == Stamp(self._generation, is_complete=True)
        assert stamp == self._index.read_stamp(DIMENSIONS)
        assert isinstance(ranked, RankedIds)
        return ranked


def _chunk(file_id: int, chunk_id: int, vector: Vector | None, terms: str) -> RemoteChunk:
    return RemoteChunk(chunk_id, file_id, f"src/{file_id}.py", "python", 1, 9, vector, terms)


def _mark_servers(*kinds: str) -> list[Any]:
    return [pytest.param(kind, marks=pytest.mark.server) for kind in kinds]


@pytest.fixture
def open_remote(request: pytest.FixtureRequest) -> OpenRemote:
    """Return a function that opens an index with a new name on a real server."""

    def open_it(kind: str, leg: Leg) -> RemoteIndex:
        server: RealServer = request.getfixturevalue(kind)
        backend = Backend(leg, kind, server.url)
        opener = dense_opener if leg == "dense" else sparse_opener
        return opener(backend, open_server(backend))(f"rootle-test-{uuid.uuid4().hex[:12]}-{leg}")

    return open_it


@pytest.fixture(params=["embedded", *_mark_servers("chroma", "opensearch", "weaviate")])
def dense(request: pytest.FixtureRequest, tmp_path: Path, open_remote: OpenRemote) -> DenseBench:
    if request.param == "embedded":
        return _EmbeddedDense(tmp_path)
    return _Remote(
        open_remote(request.param, "dense"),
        lambda file_id, chunk_id, vector: _chunk(file_id, chunk_id, vector, ""),
    )


@pytest.fixture(params=["embedded", *_mark_servers("opensearch", "elasticsearch", "weaviate")])
def sparse(request: pytest.FixtureRequest, tmp_path: Path, open_remote: OpenRemote) -> SparseBench:
    if request.param == "embedded":
        return _EmbeddedSparse(tmp_path)
    return _Remote(
        open_remote(request.param, "sparse"),
        lambda file_id, chunk_id, text: _chunk(file_id, chunk_id, None, text),
    )
