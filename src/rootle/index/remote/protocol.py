"""The interface of a replica: a copy of the data for one kind of retrieval on a search server."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from rootle.protocols import RankedIds, Vector, WeightedTerm

Leg = Literal["dense", "sparse"]

# The generation of a replica that contains nothing yet.
EMPTY_GENERATION = -1


@dataclass(frozen=True, slots=True)
class Stamp:
    """The version of a replica."""

    generation: int  # the generation of the database when the replica was last updated
    is_complete: bool  # whether it was once filled completely; later changes may be missing


@dataclass(frozen=True, slots=True)
class RemoteChunk:
    """A chunk as servers store it: fields for search, and for people who inspect the server."""

    id: int
    file_id: int
    path: str
    language: str
    start_line: int
    end_line: int
    vector: Vector | None  # for dense retrieval
    terms: str  # for sparse retrieval: stemmed terms separated by spaces

    @property
    def stored(self) -> dict[str, object]:
        """The fields that every server stores in addition to the searched ones."""
        return {
            "chunk": self.id,
            "file": self.file_id,
            "path": self.path,
            "language": self.language,
            "startLine": self.start_line,
            "endLine": self.end_line,
        }


class RemoteIndex(Protocol):
    """The operations for maintaining a replica. Each raises UnavailableError if it fails."""

    def read_stamp(self, dimensions: int) -> Stamp | None:
        """Return the stamp; None if there is no replica, or if its schema is different."""

    def create(self, dimensions: int) -> None:
        """Create an empty replica, replacing an existing one."""

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        """Insert or replace chunks by their ids."""

    def delete_stale(self, live: Mapping[int, Sequence[int]]) -> None:
        """Delete outdated chunks of the files in `live`.

        `live` maps the id of each of these files to the ids of its current chunks.
        """

    def commit(self, stamp: Stamp) -> None:
        """Make all writes visible, then write the stamp."""

    def count(self) -> int:
        """Return the number of chunks."""

    def contains(self, chunk_id: int) -> bool:
        """Return whether a chunk is stored."""

    def drop(self) -> None:
        """Delete the replica if it exists."""


class RemoteDense(RemoteIndex, Protocol):
    """A replica for dense retrieval."""

    def query(
        self, vector: Vector, k: int, files: Collection[int] | None, timeout_s: float
    ) -> tuple[Stamp | None, RankedIds]:
        """Return the stamp and at most k chunks by cosine, from `files` if given."""


class RemoteSparse(RemoteIndex, Protocol):
    """A replica for sparse retrieval."""

    def query(
        self,
        terms: Sequence[WeightedTerm],
        k: int,
        files: Collection[int] | None,
        timeout_s: float,
    ) -> tuple[Stamp | None, RankedIds]:
        """Return the stamp and at most k chunks by BM25, from `files` if given."""


def split_filter(files: Collection[int] | None, max_size: int) -> Iterator[list[int] | None]:
    """Yield a filter in parts of at most `max_size` ids; without a filter, yield None once."""
    if files is None:
        yield None
        return
    ordered = sorted(files)
    for start in range(0, len(ordered), max_size):
        yield ordered[start : start + max_size]


def merge_hits(parts: Sequence[tuple[Sequence[int], Sequence[float]]], k: int) -> RankedIds:
    """Return the k best of several lists of ids and scores, without duplicates."""
    scores: dict[int, float] = {}
    for ids, values in parts:
        for chunk_id, score in zip(ids, values, strict=True):
            scores[chunk_id] = max(score, scores.get(chunk_id, score))
    order = sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:k]
    return RankedIds(
        np.array(order, dtype=np.int64), np.array([scores[at] for at in order], dtype=np.float32)
    )
