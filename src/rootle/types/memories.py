"""Stored memories."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryReference:
    """A file or symbol that a memory references."""

    path: str  # the path relative to `root`
    symbol: str = ""  # a name that the file defines; "" for the whole file
    root: str = ""  # the absolute path of the project; "" if it is not known
    # the digest of the content of the file when the memory was stored; "" if there was no file
    digest: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        """The key that identifies the file or symbol."""
        return self.root, self.path, self.symbol


@dataclass(frozen=True, slots=True)
class MemoryOrigin:
    """The project in which a memory is stored, and whether the memory is about the user."""

    root: str  # the absolute path of the project; "" outside of projects
    is_personal: bool = False
    # whether the user chose `is_personal`, which then replaces the value of a stored memory
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. If two memories contradict each other, the newer one is valid."""

    id: str
    text: str
    created_at: str  # the time at which the text was last stored; ISO 8601, UTC
    score: float = 0.0  # the relevance to the query, 0 to 1
    count: int = 1  # how often the same text was stored
    about: tuple[MemoryReference, ...] = ()
    possibly_stale: bool = False  # whether a referenced file has changed since `created_at`
    # the projects in which the memory was stored; empty if they are not known
    stored_in: tuple[str, ...] = ()
    # whether the memory is about the user, and therefore shown in every project
    is_personal: bool = False
    # the paths of the results because of which a search shows the memory; empty if the memory
    # matches the question itself
    shown_for: tuple[str, ...] = ()
