"""Dense and sparse retrieval (the two "legs") from replicas on search servers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.errors import RefusedError, UnavailableError
from rootle.index.remote.protocol import RemoteDense, RemoteSparse, Stamp
from rootle.protocols import RankedIds, Vector, WeightedTerm

# How long a query waits for running replication. A saved file is usually replicated within this
# time, so the next query finds it.
_WAIT_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class ExpectedIndex:
    """The replica that belongs to the current local index, and its generation."""

    name: str
    generation: int


@dataclass(frozen=True, slots=True)
class RemoteLeg:
    """The logic that both legs share."""

    server: str  # for messages
    timeout_s: float
    expected: Callable[[], ExpectedIndex]
    wake: Callable[[], None]  # starts replication, if writing is allowed
    wait: Callable[[float], None]  # waits for running replication, with a timeout in seconds

    def run(self, query: Callable[[str], tuple[Stamp | None, RankedIds]]) -> RankedIds:
        """Query the replica. Raises UnavailableError if it is unusable or the query fails."""
        self.wait(min(_WAIT_S, self.timeout_s / 2))
        expected = self.expected()
        try:
            stamp, ranked = query(expected.name)
        except RefusedError as error:
            self.wake()
            raise UnavailableError(f"{error}; run `rootle index` to fill it again") from error
        if stamp is None or stamp.generation < expected.generation:
            self.wake()
        if stamp is None or not stamp.is_complete:
            raise UnavailableError(
                f"{self.server} has only part of the index of this folder; "
                "run `rootle index` to complete it"
            )
        return replace(ranked, generation=stamp.generation)


@dataclass(frozen=True, slots=True)
class RemoteDenseLeg:
    """A DenseIndex on a server."""

    leg: RemoteLeg
    open_index: Callable[[str], RemoteDense]

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> RankedIds:
        return self.leg.run(
            lambda name: self.open_index(name).query(vector, k, files, self.leg.timeout_s)
        )


@dataclass(frozen=True, slots=True)
class RemoteSparseLeg:
    """A SparseIndex on a server."""

    leg: RemoteLeg
    open_index: Callable[[str], RemoteSparse]

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> RankedIds:
        return self.leg.run(
            lambda name: self.open_index(name).query(terms, k, files, self.leg.timeout_s)
        )
