"""The documents, tests, uses and commits of a place, and the definitions that a section names."""

from __future__ import annotations

from dataclasses import dataclass

from rootle.types.history import CommitFacts, DocumentMention
from rootle.types.symbols import Symbol, SymbolUse


@dataclass(frozen=True, slots=True)
class PlaceLinks:
    """The links of a piece of code, or of a section of a document."""

    place: str  # the lines that were asked for, as "path:10" or "path:10-20"
    name: str  # the enclosing definition or section; "" if there is none
    is_document: bool  # whether the place is in a document
    definitions: tuple[Symbol, ...]  # that a section names, in its order; at most 20
    documents: tuple[DocumentMention, ...]  # that name the code, decisions first; at most five
    uses: tuple[SymbolUse, ...]  # the first ones outside of tests and comments; at most five
    total_uses: int
    tests: tuple[SymbolUse, ...]  # the first uses in tests; at most five
    total_tests: int
    is_complete: bool  # False: not all files with the name were read, so the totals are too low
    commits: tuple[CommitFacts, ...]  # that changed the place last, newest first; at most three
    notes: tuple[str, ...] = ()
