"""Read OpenDocument files: texts, presentations and spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.headed_text import HeadedText
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.readers.sheet_places import Row, SheetRows
from rootle.sources.documents.readers.slides import NOTES_MARK
from rootle.sources.documents.zip_container import END, START, TEXT, XmlEvent, ZipContainer
from rootle.sources.files.skip_rules import DAMAGED, ENCRYPTED

_CONTENT: Final = "content.xml"
_MANIFEST: Final = "META-INF/manifest.xml"
# Parts with deleted text, and with text that repeats on every page.
_IGNORED: Final = frozenset({"tracked-changes", "forms", "settings"})
# A file may claim that a cell or row is repeated a billion times.
_MAX_REPEATED: Final = 20


def read_opendocument(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add headings of a text, slides of a presentation, or ranges of a spreadsheet."""
    with ZipContainer(file, found.check_time) as container:
        if _MANIFEST in container and b":encryption-data" in container.read(_MANIFEST):
            raise DocumentError(ENCRYPTED)
        if _CONTENT not in container:
            raise DocumentError(DAMAGED)
        read_properties(container, found, "meta.xml")
        events = _without_ignored(container.events(_CONTENT))
        for event in events:
            if event.kind != START:
                continue
            if event.name == "presentation":
                _read_slides(events, found)
            elif event.name == "spreadsheet":
                _read_sheets(events, found)
            elif event.name == "text":
                _read_text(events, found)


def _without_ignored(events: Iterator[XmlEvent]) -> Iterator[XmlEvent]:
    depth = 0
    for event in events:
        if event.kind != TEXT and event.name in _IGNORED:
            depth += 1 if event.kind == START else -1
        elif not depth:
            yield event


class _Paragraphs:
    """Collects the text of paragraphs and headings from a stream of events."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._depth = 0
        self._level = 0

    def read(self, event: XmlEvent) -> tuple[int, str] | None:
        """Return the level (0 for a paragraph) and the text at the end of a paragraph."""
        kind, name, attributes = event
        if kind == TEXT:
            if self._depth:
                self._parts.append(name)
        elif name in ("p", "h"):
            if kind == START:
                self._depth += 1
                self._level = _small(attributes.get("outline-level", "1")) if name == "h" else 0
            else:
                self._depth -= 1
                text, self._parts = "".join(self._parts), []
                return self._level, text
        elif kind == START and name in ("tab", "line-break", "s"):
            self._parts.append("\n" if name == "line-break" else " ")
        return None


def _read_text(events: Iterator[XmlEvent], found: ExtractedDocument) -> None:
    text, paragraphs = HeadedText(found), _Paragraphs()
    cells: list[str] = []
    tables = 0
    for event in events:
        done = paragraphs.read(event)
        if done is not None:
            level, line = done
            if tables:
                cells.append(" ".join(line.split()))
            elif level:
                text.heading(level, line)
            else:
                text.paragraph(line)
        elif event.kind != TEXT and event.name == "table":
            tables += 1 if event.kind == START else -1
        elif event.kind == END and event.name == "table-row":
            text.paragraph(" | ".join(cell for cell in cells if cell))
            cells = []
    text.end_section()


def _read_slides(events: Iterator[XmlEvent], found: ExtractedDocument) -> None:
    paragraphs = _Paragraphs()
    number = 0
    lines: list[str] = []
    title = frame = ""
    for event in events:
        done = paragraphs.read(event)
        if done is not None:
            line = " ".join(done[1].split())
            lines += [line] if line else []
            title = title or (line if frame == "title" else "")
        elif event.kind == START and event.name == "frame":
            frame = event.attributes.get("class", "")
        elif event.kind == START and event.name == "notes":
            lines.append(NOTES_MARK)
        elif event.kind == END and event.name == "page":
            number += 1
            if lines and lines[-1] == NOTES_MARK:
                lines.pop()
            found.add(f"slide-{number}", "\n".join(lines), title)
            lines, title, frame = [], "", ""


def _read_sheets(events: Iterator[XmlEvent], found: ExtractedDocument) -> None:
    for event in events:
        if event.kind == START and event.name == "table":
            SheetRows(event.attributes.get("name", ""), found).add(_list_rows(events))


def _list_rows(events: Iterator[XmlEvent]) -> Iterator[Row]:
    """Yield the rows up to the end of the table."""
    paragraphs = _Paragraphs()
    number = column = 0
    repeated_row = repeated = 1
    cells: dict[int, str] = {}
    parts: list[str] = []
    for event in events:
        kind, name, attributes = event
        done = paragraphs.read(event)
        if done is not None:
            parts.append(" ".join(done[1].split()))
        elif kind == START and name == "table-row":
            repeated_row = _small(attributes.get("number-rows-repeated", "1"), 10**7)
            column, cells = 0, {}
        elif kind == START and name in ("table-cell", "covered-table-cell"):
            repeated = _small(attributes.get("number-columns-repeated", "1"), 10**5)
            parts = []
        elif kind == END and name in ("table-cell", "covered-table-cell"):
            text = " ".join(part for part in parts if part)
            if text:
                for offset in range(min(repeated, _MAX_REPEATED)):
                    cells[column + 1 + offset] = text
            column += repeated
        elif kind == END and name == "table-row":
            for offset in range(min(repeated_row, _MAX_REPEATED) if cells else 0):
                yield number + 1 + offset, cells
            number += repeated_row
        elif kind == END and name == "table":
            return


def _small(text: str, most: int = 9) -> int:
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 10 else 1
