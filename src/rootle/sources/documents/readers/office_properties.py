"""Read the title, the author and the date of office documents and books."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.zip_container import END, START, TEXT, ZipContainer

_FIELDS = {
    "title": "title",
    "creator": "author",
    "initial-creator": "author",
    "modified": "date",
    "date": "date",
}


def read_properties(
    container: ZipContainer, found: ExtractedDocument, part: str = "docProps/core.xml"
) -> None:
    """Set the title, author and date of a document from a part of the file that states them."""
    if part not in container:
        return
    values: dict[str, str] = {}
    field = ""
    with suppress(DocumentError):  # a document can be read without its properties
        for kind, name, _ in container.events(part):
            if kind == START:
                field = _FIELDS.get(name, "")
            elif kind == TEXT and field:
                values[field] = values.get(field, "") + name
            elif kind == END:
                field = ""
    found.title = values.get("title", "").strip()
    found.author = values.get("author", "").strip()
    found.date_s = parse_date(values.get("date", ""))


def parse_date(text: str) -> float | None:
    """Return an ISO 8601 date in Unix seconds; None if the text is not such a date."""
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    try:
        return date.timestamp()
    except (OverflowError, ValueError):
        return None
