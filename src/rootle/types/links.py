"""Links between texts and code, and names in texts and memories that no longer match the code."""

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

    place: str  # the requested lines, as "path:10" or "path:10-20"
    name: str  # the definition or section; "" if there is none
    is_document: bool  # whether the place is in a document
    # at most 20 definitions that a section names, in the order in which it names them
    definitions: tuple[Symbol, ...]
    # at most five documents that mention the code, decision records first
    documents: tuple[DocumentMention, ...]
    uses: tuple[SymbolUse, ...]  # at most five uses outside of tests and comments
    total_uses: int
    tests: tuple[SymbolUse, ...]  # at most five uses in tests
    total_tests: int
    is_complete: bool  # False: not all files with the name were read, so the totals are too low
    # at most three commits that changed the place last, newest first
    commits: tuple[CommitFacts, ...]
    notes: tuple[str, ...] = ()
    # Whether `commits` contains the last commits of the whole file, because it is not known which
    # commits changed the place.
    commits_are_of_file: bool = False


@dataclass(frozen=True, slots=True)
class DriftReport:
    """A name in a text, and the evidence that its definition was removed or changed."""

    path: str  # the path of the document or source file; "" for a memory
    line: int  # the number of the first line with the name, from 1; 0 for a memory
    name: str  # the name, in the spelling of the text
    kind: DriftKind
    origin: DriftOrigin
    text: str  # the line, or the text of the memory
    is_changed: bool  # True if the name still exists, but with other parameters or at another path
    evidence: str  # how it is known that the name belonged to this project
    replacement: str = ""  # the current signature or path; "" if it is not known
    # The commit that removed or changed the definition; None if it is not known, or commits are not
    # indexed.
    commit: CommitFacts | None = None
    memory: str = ""  # the id of the memory


@dataclass(frozen=True, slots=True)
class DriftAnswer:
    """The names that no longer match the code, in the order of their paths and lines."""

    reports: tuple[DriftReport, ...]
    texts: int  # the number of documents, files with comments and memories that were read
    names: int  # the number of different names in these texts
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float
    # False: commits are missing or a limit was reached, so outdated names may be missing.
    # `suggestions` contains the reasons.
    is_complete: bool = True
