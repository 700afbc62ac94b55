"""Read OpenDocument files: texts, presentations and spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.headed_text import (
    HeadedText,
    ParagraphStack,
    RowCells,
)
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.readers.sheet_places import Row, SheetRows, add_comment
from rootle.sources.documents.readers.slides import NOTES_MARK
from rootle.sources.documents.zip_container import (
    END,
    START,
    TEXT,
    XmlEvent,
    ZipContainer,
    skip_elements,
)
from rootle.sources.files.skip_rules import DAMAGED, ENCRYPTED

_CONTENT: Final = "content.xml"
_MANIFEST: Final = "META-INF/manifest.xml"
# Deleted text, form controls, the settings of presentations, and the pronunciation of Japanese
# words.
_IGNORED: Final = frozenset({"tracked-changes", "forms", "settings", "ruby-text"})
# Notes and comments: their paragraphs are read, but not their numbers, authors and dates.
_ASIDES: Final = frozenset({"note", "annotation"})
_CELLS: Final = frozenset({"table-cell", "covered-table-cell"})
# A file may claim that a cell or row is repeated a billion times.
_MAX_REPEATED: Final = 20


def read_opendocument(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add a place for each heading of a text, each slide, or each block of rows in a sheet."""
    with ZipContainer(file, found) as container:
        if _MANIFEST in container and b":encryption-data" in container.read(_MANIFEST):
            raise DocumentError(ENCRYPTED)
        if _CONTENT not in container:
            raise DocumentError(DAMAGED)
        read_properties(container, found, "meta.xml")
        events = skip_elements(container.events(_CONTENT), _IGNORED)
        for event in events:
            if event.kind != START:
                continue
            if event.name == "presentation":
                _read_slides(events, found)
            elif event.name == "spreadsheet":
                _read_sheets(events, found)
            elif event.name == "text":
                _read_text(events, found)


class _Paragraphs:
    """Collects the text of paragraphs and headings from a stream of events."""

    def __init__(self) -> None:
        self._stack = ParagraphStack()

    def read(self, event: XmlEvent) -> list[tuple[int, str]]:
        """Return the levels (0 for a paragraph) and texts of paragraphs that this event ends."""
        kind, name, attributes = event
        if kind == TEXT:
            self._stack.add(name)
        elif name in ("p", "h"):
            if kind == END:
                return self._stack.end()
            self._stack.start(_small(attributes.get("outline-level", "1")) if name == "h" else 0)
        elif name in _ASIDES:
            if kind == START:
                self._stack.start_note()
            else:
                self._stack.end_note()
        elif kind == START and name in ("tab", "line-break", "s"):
            self._stack.add("\n" if name == "line-break" else " ")
        return []


def _read_text(events: Iterator[XmlEvent], found: ExtractedDocument) -> None:
    text, paragraphs, table = HeadedText(found), _Paragraphs(), _TableRows()
    for event in events:
        for level, line in paragraphs.read(event):
            if table.add(line):
                continue
            if level:
                text.start_section(level, line)
            else:
                text.add_paragraph(line)
        text.add_paragraph(table.read(event))
    text.end_section()


class _TableRows(RowCells):
    """Reads the rows of tables that are not nested in another table."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def read(self, event: XmlEvent) -> str:
        """Return the row that this event ends, or ""."""
        kind, name, attributes = event
        if kind == TEXT:
            return ""
        if name == "table":
            self._depth += 1 if kind == START else -1
        elif kind == START and name in _CELLS and self._depth == 1:
            repeated = _small(attributes.get("number-columns-repeated", "1"), _MAX_REPEATED)
            # Repeated cells share one list, so that all of them get the same text.
            self._cells += [[]] * repeated
        elif kind == END and name == "table-row" and self._depth == 1:
            return self.end()
        return ""


def _read_slides(events: Iterator[XmlEvent], found: ExtractedDocument) -> None:
    paragraphs, table = _Paragraphs(), _TableRows()
    number = 0
    lines: list[str] = []
    title = frame = ""
    for event in events:
        for _, paragraph in paragraphs.read(event):
            if table.add(paragraph):
                continue
            line = " ".join(paragraph.split())
            lines += [line] if line else []
            title = title or (line if frame == "title" else "")
        if row := table.read(event):
            lines.append(row)
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
    comments: list[str] = []
    in_comment = False
    for event in events:
        kind, name, attributes = event
        for _, paragraph in paragraphs.read(event):
            (comments if in_comment else parts).append(paragraph)
        if kind != TEXT and name == "annotation":
            in_comment = kind == START
        elif kind == START and name == "table-row":
            repeated_row = _small(attributes.get("number-rows-repeated", "1"), 10**7)
            column, cells = 0, {}
        elif kind == START and name in _CELLS:
            repeated = _small(attributes.get("number-columns-repeated", "1"), 10**5)
            parts, comments = [], []
        elif kind == END and name in _CELLS:
            if text := add_comment(" ".join(" ".join(parts).split()), " ".join(comments)):
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
