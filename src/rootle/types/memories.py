"""Stored memories."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryReference:
    """A file or symbol that a memory references."""

    path: str  # relative to its root
    symbol: str = ""  # a name that the file defines; empty for the whole file
    root: str = ""  # absolute path of the project; empty if unknown
    digest: str = ""  # of the content when the memory was stored; empty if there was none

    @property
    def place(self) -> tuple[str, str, str]:
        """The key that identifies the file or symbol."""
        return self.root, self.path, self.symbol


@dataclass(frozen=True, slots=True)
class MemoryOrigin:
    """The project in which a memory is stored, and whether the memory is about the user."""

    root: str  # absolute path of the project; empty outside of projects
    is_personal: bool = False
    is_chosen: bool = False  # if true, `is_personal` replaces the value of a stored memory


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. If two memories contradict each other, the newer one is valid."""

    id: str
    text: str
    created_at: str  # time at which it was last stored; ISO 8601, UTC
    score: float = 0.0  # relevance to the query, 0 to 1
    count: int = 1  # number of times the same text was stored
    about: tuple[MemoryReference, ...] = ()
    possibly_stale: bool = False  # whether a referenced file has changed since then
    stored_in: tuple[str, ...] = ()  # projects in which it was stored; empty if unknown
    is_personal: bool = False  # about the user, and therefore shown in every project
