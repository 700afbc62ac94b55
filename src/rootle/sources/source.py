"""The interface of document sources."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from rootle.types import DocumentSection

Trust = Literal["project", "dependency", "external"]


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """An entry in a source's list of documents. It is created without reading the document.

    The document is read and indexed again if its size or one of its times has changed.
    """

    uri: str  # unique within its source and stable; for a file, its path relative to the root
    size: int  # in bytes, for progress reports and planning; need not be exact
    mtime_ns: int  # time of the last modification, in Unix nanoseconds
    ctime_ns: int = 0  # time of the last change, which programs cannot set; 0 if unknown


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """A document or folder that is not indexed."""

    uri: str
    reason: str  # one of skip_rules.REASONS
    size: int = 0  # in bytes; 0 if unknown


@dataclass(frozen=True, slots=True)
class Scan:
    """All documents of a source, or only those that changed since an earlier scan."""

    documents: tuple[DocumentEntry, ...]
    skips: tuple[SkippedDocument, ...] = ()
    is_complete: bool = True  # True if documents that are not listed no longer exist
    removed: tuple[str, ...] = ()  # URIs that no longer exist, if the scan is not complete
    token: str = ""  # to pass to the next scan


@dataclass(frozen=True, slots=True)
class Document:
    """A document as text.

    Results cite lines of the text, or the labels of its sections if it has any.
    """

    uri: str
    text: str
    digest: bytes  # 16-byte hash of the original content; equal digests mean no change
    language: str  # a name from `text.languages`; determines how the text is split into chunks
    encoding: str  # of the original content, or types.EXTRACTED if the text was extracted
    kind: str = "file"  # "file", "commit", "slides", "page", …
    title: str = ""
    author: str = ""  # "Name <address>"
    date_s: float | None = None  # when it was written, in Unix seconds; None if unknown
    sections: tuple[DocumentSection, ...] = ()  # in order, without overlaps
    omitted_chars: int = 0  # estimated number of characters that a limit cut off after the text
    masked: int = 0  # number of secrets that are masked in the text


class DocumentReader(Protocol):
    """Reads the documents of one source. It is pickled and used in worker processes."""

    def read(self, uri: str) -> Document | str:
        """Return a document, or the reason (one of skip_rules.REASONS) why it is not indexed."""


class Source(Protocol):
    """A source of documents."""

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

        `token` comes from the last scan whose documents were all indexed. A source that can detect
        changes since that scan may return only the changed documents. Raise IngestError if nothing
        can be listed.
        """

    def look_up(self, uris: Collection[str]) -> Scan | None:
        """Return the scan results of the given documents; None if that requires a full scan."""

    def is_readable(self, uri: str) -> bool:
        """Return whether a document that was unreadable when it was indexed can be read now."""

    def reader(self) -> DocumentReader:
        """Return a reader that worker processes can use."""
