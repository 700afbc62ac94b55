"""What a search server is to rootle: a copy of one leg of the truth that says how far it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from rootle.protocols import Ranked, Vector, WeightedTerm

Leg = Literal["dense", "sparse"]

# Of a server's index into which nothing was written yet.
NOTHING_HELD = -1


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a server's index says of itself."""

    generation: int  # of the truth that it has seen
    is_whole: bool  # it was filled to the end once; what came later is at most missing a little


@dataclass(frozen=True, slots=True)
class RemoteChunk:
    """A chunk as a server gets it: enough to find it, and to tell a person who looks at it."""

    id: int
    file_id: int
    path: str
    language: str
    start_line: int
    end_line: int
    vector: Vector | None  # for the dense leg
    terms: str  # for the sparse leg: the terms of the index with spaces between

    @property
    def stored(self) -> dict[str, object]:
        """What every server keeps of it, beside what its leg is searched by."""
        return {
            "chunk": self.id,
            "file": self.file_id,
            "path": self.path,
            "language": self.language,
            "startLine": self.start_line,
            "endLine": self.end_line,
        }


class RemoteIndex(Protocol):
    """One leg's index on a server, as far as it is written. All of it raises UnavailableError."""

    def held(self, dimensions: int) -> Stamp | None:
        """Its stamp; None where there is none, or one of another make."""

    def create(self, dimensions: int) -> None:
        """An empty one in the place of whatever is there."""

    def put(self, chunks: Sequence[RemoteChunk]) -> None:
        """Write chunks over what it holds under their ids."""

    def prune(self, live: Mapping[int, Sequence[int]]) -> None:
        """Drop what it holds of these files beside the chunks that each has now."""

    def settle(self, stamp: Stamp) -> None:
        """Make all that was written visible, then stamp it."""

    def count(self) -> int: ...
    def holds(self, chunk_id: int) -> bool: ...

    def drop(self) -> None:
        """Delete it; one that is not there is no error."""


class RemoteDense(RemoteIndex, Protocol):
    def query(
        self, vector: Vector, k: int, files: Collection[int] | None, timeout_s: float
    ) -> tuple[Stamp | None, Ranked]:
        """At most k chunks by cosine, only of `files` where given, and the stamp at that time."""


class RemoteSparse(RemoteIndex, Protocol):
    def query(
        self,
        terms: Sequence[WeightedTerm],
        k: int,
        files: Collection[int] | None,
        timeout_s: float,
    ) -> tuple[Stamp | None, Ranked]:
        """At most k chunks by BM25, only of `files` where given, and the stamp at that time."""


def filter_sets(files: Collection[int] | None, largest: int) -> Iterator[list[int] | None]:
    """A filter in pieces that a server takes: each is asked for its best, and those are merged."""
    if files is None:
        yield None
        return
    ordered = sorted(files)
    for start in range(0, len(ordered), largest):
        yield ordered[start : start + largest]


def merged(parts: Sequence[tuple[Sequence[int], Sequence[float]]], k: int) -> Ranked:
    """The k best of some lists of ids and scores, each id once."""
    scores: dict[int, float] = {}
    for ids, values in parts:
        for chunk_id, score in zip(ids, values, strict=True):
            scores[chunk_id] = max(score, scores.get(chunk_id, score))
    order = sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:k]
    return Ranked(
        np.array(order, dtype=np.int64), np.array([scores[at] for at in order], dtype=np.float32)
    )
