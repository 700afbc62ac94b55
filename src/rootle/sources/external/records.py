"""A document of a source that a user added, and the limits of such sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import quote

from rootle.sources.plain_text import plain_text
from rootle.types import DocumentSection

MAX_DOCUMENT_CHARS: Final = 2_000_000
MAX_FILE_BYTES: Final = 20_000_000
MAX_SECTIONS: Final = 5_000
_MAX_LABEL_CHARS: Final = 120
_MAX_NAME_CHARS: Final = 500
_ADDRESS_CHARS: Final = "/%:@!$&'()*+,;=~?-._#[]"


class ExternalSourceError(Exception):
    """A source cannot be read. The message gives the reason to the user."""


@dataclass(frozen=True, slots=True)
class ExternalDocument:
    """A document as text."""

    path: str  # unique in its source, with "/"
    text: str
    title: str = ""
    language: str = "markdown"  # a name from `text.languages`
    address: str = ""  # the URL of the document; "" if it has none
    date_s: float | None = None  # when it was written, in Unix seconds
    factor: float = 1.0  # multiplies its score in the ranking; depends, for example, on votes
    sections: tuple[DocumentSection, ...] = ()  # as in sources.source.Document


@dataclass(frozen=True, slots=True)
class CutFile:
    """A file of which only a part was read."""

    path: str


def document_to_json(document: ExternalDocument) -> dict[str, Any]:
    """Return a document as JSON data."""
    return asdict(document)


def document_from_json(data: Mapping[str, Any]) -> ExternalDocument:
    """Return the document in untrusted JSON data; its writer may be controlled by a malicious file.

    Raise ValueError, TypeError or KeyError if the data is invalid.
    """
    sections = [
        DocumentSection(
            _plain_line(item["label"])[:_MAX_LABEL_CHARS],
            int(item["start_line"]),
            int(item["end_line"]),
            _plain_line(item["title"])[:_MAX_NAME_CHARS],
        )
        for item in data["sections"][:MAX_SECTIONS]
    ]
    date_s = data["date_s"]
    return ExternalDocument(
        _plain_line(data["path"])[:_MAX_NAME_CHARS],
        plain_text(data["text"])[:MAX_DOCUMENT_CHARS],
        _plain_line(data["title"])[:_MAX_NAME_CHARS],
        _plain_line(data["language"]),
        # The address is percent-encoded, because results show it outside the text that they mark as
        # untrusted.
        quote(_plain_line(data["address"])[: 2 * _MAX_NAME_CHARS], safe=_ADDRESS_CHARS),
        None if date_s is None else float(date_s),
        min(2.0, max(0.5, float(data["factor"]))),
        tuple(sections),
    )


def _plain_line(text: object) -> str:
    return " ".join(plain_text(text).split())
