"""The interface of a source: a place where documents come from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from rootle.types import DocumentSection

Trust = Literal["project", "dependency", "external"]


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document in the listing of its source, not read yet.

    It is read again when its size or its time differs from what the index holds.
    """

    uri: str  # unique within its source and stable; of a file, the path relative to the root
    size: int  # in bytes, for progress and for planning; need not be exact
    mtime_ns: int  # when it last changed, in Unix nanoseconds


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """A document or folder that is not indexed."""

    uri: str
    reason: str  # one of skip_rules.REASONS
    size: int = 0  # in bytes; 0 if unknown


@dataclass(frozen=True, slots=True)
class Scan:
    """All documents of a source, or only those that changed since a token."""

    documents: tuple[DocumentEntry, ...]
    skips: tuple[SkippedDocument, ...] = ()
    is_complete: bool = True  # documents that it does not list no longer exist
    removed: tuple[str, ...] = ()  # URIs that no longer exist, where it is not complete
    token: str = ""  # to pass to the next scan


@dataclass(frozen=True, slots=True)
class Document:
    """A document as text.

    Results are cited by lines of the text, or by the label of a section where it has sections.
    """

    uri: str
    text: str
    digest: bytes  # 16 bytes, of the original content: equal digests mean that nothing changed
    language: str  # as `text.languages.language_of` names it; selects how it is split into chunks
    encoding: str  # of the original content, or types.EXTRACTED where the text was extracted
    kind: str = "file"  # "file", "commit", "slides", "page", …
    title: str = ""
    author: str = ""  # "Name <address>"
    date_s: float | None = None  # when it was written, in Unix seconds, where the source knows
    sections: tuple[DocumentSection, ...] = ()  # in order, without overlaps


class DocumentReader(Protocol):
    """Reads the documents of one source. It is pickled and used in worker processes."""

    def read(self, uri: str) -> Document | str:
        """Return a document, or one of skip_rules.REASONS why it is not indexed."""


class Source(Protocol):
    """A place where documents come from: everything that indexing may ask of it."""

    @property
    def name(self) -> str:
        """A short name, unique among the sources of an index, that never changes."""

    @property
    def trust(self) -> Trust:
        """Who wrote the documents.

        "project" for the people who index them, "dependency" for code that they chose to install,
        "external" for text that anyone may have written, such as a web page.
        """

    def scan(self, token: str = "") -> Scan:
        """List the documents and their state without reading them.

        `token` is that of the last scan whose documents were all indexed. A source that can tell
        what changed since then may return only that. Raise IngestError where nothing can be listed.
        """

    def look_up(self, uris: Collection[str]) -> Scan | None:
        """Return what a scan would say of some documents; None where that takes a whole scan."""

    def is_readable(self, uri: str) -> bool:
        """Return whether a document that was unreadable when it was indexed can be read now."""

    def reader(self) -> DocumentReader:
        """Return a reader for other processes."""
