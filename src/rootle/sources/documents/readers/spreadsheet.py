"""Read Excel workbooks: the header, the size and the first rows of each sheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.cell_values import (
    DAY_0,
    DAY_0_OF_1904,
    CellFormats,
    read_formats,
)
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.readers.sheet_places import Row, SheetRows, add_comment
from rootle.sources.documents.zip_container import (
    END,
    START,
    TEXT,
    ZipContainer,
    find_part,
    skip_elements,
)

_MAX_SHARED_CHARS: Final = 50_000_000
_MAX_COMMENT_CHARS: Final = 1_000_000
_MAX_COLUMNS: Final = 16_384  # the maximum in Excel
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_READINGS: Final = ("rPh",)  # pronunciations of Japanese words, which Excel stores with the text

_Comments = Mapping[int, Mapping[int, str]]  # by row and column, from 1


def read_spreadsheet(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add blocks of rows from every sheet. Formulas have the values that Excel stored last."""
    with ZipContainer(file, found) as container:
        read_properties(container, found)
        main = container.main_part()
        relations = container.relations(main)
        shared = _read_shared(container, find_part(relations, "sharedStrings"))
        styles = find_part(relations, "styles")
        day_0 = DAY_0_OF_1904 if _counts_from_1904(container, main) else DAY_0
        formats = read_formats(container, styles, day_0) if styles in container else CellFormats(())
        for title, target in list(_list_sheets(container, main)):
            name = relations.get(target, ("", ""))[1]
            if container.has_listed(name):
                comments = _read_comments(container, name)
                rows = _read_rows(container, name, shared, formats, comments)
                SheetRows(title, found).add(rows)


def _list_sheets(container: ZipContainer, main: str) -> Iterator[tuple[str, str]]:
    for kind, name, attributes in container.events(main):
        if kind == START and name == "sheet":
            yield attributes.get("name", ""), attributes.get("id", "")


def _counts_from_1904(container: ZipContainer, main: str) -> bool:
    """Return whether dates are days since 1904, as in workbooks from old versions of Mac Excel."""
    for kind, name, attributes in container.events(main):
        if kind == START and name == "workbookPr":
            return attributes.get("date1904", "").lower() in ("1", "true", "on")
        if kind == START and name == "sheets":
            break  # the properties of the workbook precede its sheets
    return False


def _read_comments(container: ZipContainer, sheet: str) -> _Comments:
    """Return the comments on the cells of a sheet."""
    relations = container.relations(sheet).values()
    texts: dict[str, str] = {}
    # For older versions of Excel, each thread of comments is repeated as an ordinary comment.
    for wanted in ("threadedComment", "comments"):
        known = frozenset(texts)
        for name in [part for kind, part in relations if kind == wanted and part in container]:
            for cell, text in _list_comments(container, name):
                if cell not in known:
                    texts[cell] = f"{texts.get(cell, '')} {text}".strip()
    found: dict[int, dict[int, str]] = {}
    for cell, text in texts.items():
        row, column = _number(cell.lstrip(_LETTERS), 0), _column(cell)
        if row and column:
            found.setdefault(row, {})[column] = text
    return found


def _list_comments(container: ZipContainer, part: str) -> Iterator[tuple[str, str]]:
    cell = ""
    parts: list[str] = []
    chars = 0
    in_text = False
    for kind, name, attributes in skip_elements(container.events(part), _READINGS):
        if kind == TEXT:
            if in_text:
                parts.append(name)
                chars += len(name)
        elif name in ("t", "text"):
            in_text = kind == START
        elif name in ("comment", "threadedComment"):
            if kind == START:
                cell, parts = attributes.get("ref", ""), []
            else:
                yield cell, "".join(parts)
            if chars > _MAX_COMMENT_CHARS:
                container.omit(1)
                break


def _read_shared(container: ZipContainer, part: str) -> list[str]:
    """Return the texts to which cells refer by number."""
    if part not in container:
        return []
    texts: list[str] = []
    parts: list[str] = []
    chars = 0
    in_text = False
    for kind, name, _ in skip_elements(container.events(part), _READINGS):
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
                container.omit(1)
                break
    return texts


def _read_rows(
    container: ZipContainer,
    part: str,
    shared: list[str],
    formats: CellFormats,
    comments: _Comments,
) -> Iterator[Row]:
    number = column = 0
    cells: dict[int, str] = {}
    kind_of_cell = style = ""
    value: list[str] = []
    in_value = False
    for kind, name, attributes in skip_elements(container.events(part), _READINGS):
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
            text = _read_text("".join(value), kind_of_cell, style, shared, formats)
            if column <= _MAX_COLUMNS:
                cells.update({column: text} if text else {})
            else:
                container.omit(len(text))
        elif name == "row":
            for at, comment in comments.get(number, {}).items():
                cells[at] = add_comment(cells.get(at, ""), comment)
            yield number, cells


def _read_text(value: str, kind: str, style: str, shared: list[str], formats: CellFormats) -> str:
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
