"""A leg that a server answers: asked for what it holds, and believed only where that is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.errors import RefusedError, UnavailableError
from rootle.index.remote.protocol import RemoteDense, RemoteSparse, Stamp
from rootle.protocols import Ranked, Vector, WeightedTerm

# A saved file is on the server within this, so that the question right after it finds it there.
_PATIENCE_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class ExpectedIndex:
    """The index that belongs to what is here now, and how far that is."""

    name: str
    generation: int


@dataclass(frozen=True, slots=True)
class RemoteLeg:
    """What both legs have in common."""

    server: str  # for messages
    timeout_s: float
    wanted: Callable[[], ExpectedIndex]
    wake: Callable[[], None]  # has the server fed, where anything may be written
    settle: Callable[[float], None]  # waits for what is being fed, at most so many seconds

    def ask(self, query: Callable[[str], tuple[Stamp | None, Ranked]]) -> Ranked:
        """What `query` finds in the index of a name; raises UnavailableError for one unfilled."""
        self.settle(min(_PATIENCE_S, self.timeout_s / 2))
        wanted = self.wanted()
        try:
            stamp, ranked = query(wanted.name)
        except RefusedError as error:
            self.wake()
            raise UnavailableError(f"{error}; `rootle index` fills it again") from error
        if stamp is None or stamp.generation < wanted.generation:
            self.wake()
        if stamp is None or not stamp.is_whole:
            raise UnavailableError(
                f"{self.server} does not hold all of this folder yet; `rootle index` fills it now"
            )
        return replace(ranked, generation=stamp.generation)


@dataclass(frozen=True, slots=True)
class RemoteDenseLeg:
    """A DenseIndex."""

    leg: RemoteLeg
    open_index: Callable[[str], RemoteDense]

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> Ranked:
        return self.leg.ask(
            lambda name: self.open_index(name).query(vector, k, files, self.leg.timeout_s)
        )


@dataclass(frozen=True, slots=True)
class RemoteSparseLeg:
    """A SparseIndex."""

    leg: RemoteLeg
    open_index: Callable[[str], RemoteSparse]

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> Ranked:
        return self.leg.ask(
            lambda name: self.open_index(name).query(terms, k, files, self.leg.timeout_s)
        )
