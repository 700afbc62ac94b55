"""Documents, their chunks and sections, and the passages that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

FILES: Final = "files"  # the name of the source that lists the files of the folder
EXTRACTED: Final = "document"  # the value of `encoding` for text that a document reader extracted
PACKAGE_URI: Final = "deps:"  # the prefix of the URI of a file of an installed package
# The prefix of the URI of a document of an added source. The name of the source, "/" and a path
# follow.
EXTERNAL_URI: Final = "web:"
# The reason why documents are skipped if the optional library that reads them is not installed.
NEEDS_EXTRA: Final = "needs rootle[documents]"
# The reason why images are skipped if the program that recognizes their text is not installed.
NEEDS_OCR: Final = "needs tesseract-ocr"
# The text of a commit names this reason in parentheses after a file whose changes may contain
# secrets.
HIDDEN_SECRET: Final = "secret"
# The kind of a document that contains a commit. The document has a section for the message, and a
# section for each changed file. The label of such a section is the path of the file.
COMMIT_KIND: Final = "commit"
# The encoding of commits, and the encoding of commits whose changed lines could not all be read.
COMMIT_ENCODING: Final = "git"
PARTIAL_COMMIT: Final = "git-partial"


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """The metadata of a file."""

    last_modified: str | None  # ISO 8601, UTC; None if it is not known
    language: str
    file_size_bytes: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Consecutive lines of a file: the unit that is embedded and indexed."""

    file_path: str  # relative to the root of the index, with "/" on every platform
    sequence_number: int  # the position among the chunks of the file, from 0
    start_line: int  # from 1, inclusive
    end_line: int
    text: str
    metadata: FileMetadata
    embedding: tuple[float, ...] | None = None  # a unit vector; None if it is pending

    @property
    def chunk_id(self) -> str:
        """The path and the sequence number, as in "src/retry.py::3".

        An edit of the file can change the id of a chunk.
        """
        return f"{self.file_path}::{self.sequence_number}"


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """Lines of an extracted text that are cited by a label, such as a page, a slide or a cell."""

    label: str  # unique in the document; "slide-2" is cited as "deck.pptx#slide-2"
    start_line: int  # from 1, inclusive
    end_line: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file that match the query."""

    start_line: int
    end_line: int
    snippet: str
    scope: str  # the enclosing function, class or heading
    place: str | None = None  # the label of the section, in a document with sections


@dataclass(frozen=True, slots=True)
class Context:
    """The lines of a result and the code around them, read from the current file."""

    passages: tuple[Span, ...]  # in line order, without overlaps
    changed: bool  # whether the file has changed since it was indexed


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file in its current state, or of a commit."""

    source: str  # the path of the file or the hash of the commit
    language: str
    start_line: int  # the number of the first line, from 1
    lines: tuple[str, ...]
    total_lines: int  # the number of lines of the whole file or commit
    note: str = ""  # a message for the reader if the lines are not exactly those requested
    origin: str | None = None  # as in SearchResult
    trust: Literal["dependency", "external"] | None = None  # as in SearchResult
    warning: str | None = None  # as in SearchResult


@dataclass(frozen=True, slots=True)
class Definition:
    """A named range of lines: a definition in source code, or a heading with its section."""

    name: str  # with the enclosing definitions, outermost first: "class A > def b"
    first_line: int  # from 1, inclusive; includes the comment above the definition
    last_line: int


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The lines of an indexed document, and its definitions."""

    path: str
    lines: tuple[str, ...]
    # in line order; members follow the definition that contains them
    definitions: tuple[Definition, ...]
