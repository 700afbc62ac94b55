"""Read Excel workbooks: the header and the shape of each sheet, and its first rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.cell_values import CellFormats, read_formats
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.readers.sheet_places import Row, SheetRows
from rootle.sources.documents.zip_container import END, START, TEXT, ZipContainer, find_part

_MAX_SHARED_CHARS: Final = 50_000_000
_MAX_COLUMNS: Final = 16_384  # of Excel


def read_spreadsheet(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add blocks of rows from every sheet. Values are those that Excel stored last."""
    with ZipContainer(file, found.check_time) as container:
        read_properties(container, found)
        main = container.main_part()
        relations = container.relations(main)
        shared = _read_shared(container, find_part(relations, "sharedStrings"))
        styles = find_part(relations, "styles")
        formats = read_formats(container, styles) if styles in container else CellFormats(())
        for title, target in list(_list_sheets(container, main)):
            name = relations.get(target, ("", ""))[1]
            if name in container:
                SheetRows(title, found).add(_read_rows(container, name, shared, formats))


def _list_sheets(container: ZipContainer, main: str) -> Iterator[tuple[str, str]]:
    for kind, name, attributes in container.events(main):
        if kind == START and name == "sheet":
            yield attributes.get("name", ""), attributes.get("id", "")


def _read_shared(container: ZipContainer, part: str) -> list[str]:
    """Return the texts to which cells refer by number."""
    if part not in container:
        return []
    texts: list[str] = []
    parts: list[str] = []
    chars = 0
    in_text = False
    for kind, name, _ in container.events(part):
        if kind == TEXT:
            if in_text:
                parts.append(name)
                chars += len(name)
        elif name == "t":
            in_text = kind == START
        elif name == "si" and kind == END:
            texts.append("".join(parts))
            parts = []
            if chars > _MAX_SHARED_CHARS:
                break
    return texts


def _read_rows(
    container: ZipContainer, part: str, shared: list[str], formats: CellFormats
) -> Iterator[Row]:
    number = column = 0
    cells: dict[int, str] = {}
    kind_of_cell = style = ""
    value: list[str] = []
    in_value = False
    for kind, name, attributes in container.events(part):
        if kind == TEXT:
            if in_value:
                value.append(name)
        elif kind == START:
            if name == "row":
                number = _number(attributes.get("r", ""), number + 1)
                column, cells = 0, {}
            elif name == "c":
                column = _column(attributes.get("r", "")) or column + 1
                kind_of_cell, style = attributes.get("t", "n"), attributes.get("s", "")
                value = []
            elif name in ("v", "t"):
                in_value = True
        elif name in ("v", "t"):
            in_value = False
        elif name == "c":
            text = _text_of("".join(value), kind_of_cell, style, shared, formats)
            if text and column <= _MAX_COLUMNS:
                cells[column] = text
        elif name == "row":
            yield number, cells


def _text_of(value: str, kind: str, style: str, shared: list[str], formats: CellFormats) -> str:
    if kind == "s":
        at = _number(value, -1)
        value = shared[at] if 0 <= at < len(shared) else ""
    elif kind == "b":
        value = "TRUE" if value == "1" else "FALSE"
    elif kind == "n":
        value = formats.format(value, style)
    return " ".join(value.split())


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def _column(reference: str) -> int:
    """Return the number of a column, from 1: 28 for "AB7"; 0 if there is none."""
    number = 0
    for letter in reference[:3]:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
