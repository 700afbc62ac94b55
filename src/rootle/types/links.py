"""Links between prose and code, and names in prose and memories that no longer match the code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rootle.types.history import CommitFacts, DocumentMention
from rootle.types.symbols import Symbol, SymbolUse

DriftKind = Literal["name", "path", "option", "module", "signature", "parameter"]
DriftOrigin = Literal["document", "comment", "memory"]


@dataclass(frozen=True, slots=True)
class PlaceLinks:
    """The links of a piece of code, or of a section of a document."""

    place: str  # the lines that were asked for, as "path:10" or "path:10-20"
    name: str  # the definition or section; "" if there is none
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
    # Whether `commits` changed the file, because those that changed the place are not known.
    commits_are_of_file: bool = False


@dataclass(frozen=True, slots=True)
class DriftReport:
    """A name in a text, and the evidence that the code no longer has it or has changed it."""

    path: str  # of the document or source file; "" for a memory
    line: int  # the first line of the file that contains the name, from 1; 0 for a memory
    name: str  # as in the text
    kind: DriftKind
    origin: DriftOrigin
    text: str  # the line, or the memory
    is_changed: bool  # True: it exists with other parameters or at another path
    evidence: str  # why it was a name of this project
    replacement: str = ""  # the present signature or path; "" if it is not known
    # The commit that removed or changed it; None if it is not known, or commits are not indexed.
    commit: CommitFacts | None = None
    memory: str = ""  # the id of the memory


@dataclass(frozen=True, slots=True)
class DriftAnswer:
    """The names that no longer match the code, in the order of their paths and lines."""

    reports: tuple[DriftReport, ...]
    texts: int  # the number of documents, files with comments and memories that were read
    names: int  # the number of different names in them
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float
