"""Read Word documents: paragraphs by headings, tables, notes, comments, charts and headers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import BinaryIO, Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.charts import read_chart
from rootle.sources.documents.readers.headed_text import (
    HeadedText,
    ParagraphStack,
    RowCells,
)
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.zip_container import (
    FALLBACK,
    START,
    TEXT,
    XmlEvent,
    ZipContainer,
    find_part,
    skip_elements,
)

_HEADING_STYLE: Final = re.compile(r"heading (\d)|(title)", re.IGNORECASE)
_MARGINS: Final = ("header", "footer")
_NOTES: Final = ("footnotes", "endnotes", "comments")
# Copies of drawings, the old copy of moved text, and the pronunciation of Japanese words.
_IGNORED: Final = frozenset({FALLBACK, "moveFrom", "rt"})
# The characters that these elements represent.
_CHARACTERS: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_MAX_SPAN: Final = 63  # Word allows at most this many columns in a table


def read_word(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the sections of a document. Text that tracked changes deleted is left out."""
    with ZipContainer(file, found) as container:
        read_properties(container, found)
        main = container.main_part()
        relations = container.relations(main)
        styles = find_part(relations, "styles")
        levels = _heading_levels(container, styles) if styles in container else {}
        text = HeadedText(found)
        for level, line in _list_paragraphs(container.events(main), levels):
            if level:
                text.start_section(level, line)
            else:
                text.add_paragraph(line)
        for title, lines in _list_appendices(container, relations.values()):
            text.start_section(1, title)
            for line in lines:
                text.add_paragraph(line)
        text.end_section()


def _list_appendices(
    container: ZipContainer, relations: Collection[tuple[str, str]]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the titles and lines of the notes, the charts, and the headers and footers."""
    parts = [(kind, name) for kind, name in relations if name in container]
    for kind, name in parts:
        if kind in _NOTES:
            yield kind.capitalize(), _read_lines(container, name)
    if charts := [
        line for kind, name in parts if kind == "chart" for line in read_chart(container, name)
    ]:
        yield "Charts", charts
    # Each section and each kind of page can have a header; often, all of them are equal.
    margins = (_read_lines(container, name) for kind, name in parts if kind in _MARGINS)
    if lines := dict.fromkeys(line for part in margins for line in part if line.strip()):
        yield "Headers and footers", lines


def _read_lines(container: ZipContainer, part: str) -> Iterator[str]:
    return (line for _, line in _list_paragraphs(container.events(part), {}))


def _heading_levels(container: ZipContainer, part: str) -> dict[str, int]:
    """Return the levels of heading styles, and of styles that are based on a heading style."""
    levels: dict[str, int] = {}
    parents: dict[str, str] = {}
    style = ""
    for event in container.events(part):
        if event.kind != START:
            continue
        value = event.attributes.get("val", "")
        if event.name == "style":
            style = event.attributes.get("styleId", "")
        elif event.name == "name" and (match := _HEADING_STYLE.fullmatch(value)):
            levels[style] = int(match[1]) if match[1] else 1
        elif event.name == "outlineLvl" and value.isdigit() and int(value) < 9:
            levels.setdefault(style, int(value) + 1)
        elif event.name == "basedOn":
            parents[style] = value
    for name, parent in parents.items():
        if parent in levels:
            levels.setdefault(name, levels[parent])
    return levels


def _list_paragraphs(
    events: Iterator[XmlEvent], levels: Mapping[str, int]
) -> Iterator[tuple[int, str]]:
    """Yield headings with their level, and paragraphs and rows of tables with level 0."""
    paragraphs = ParagraphStack()
    row = _Row()
    table_depth = 0
    in_text = False
    for kind, name, attributes in skip_elements(events, _IGNORED):
        if kind == TEXT:
            if in_text:
                paragraphs.add(name)
        elif kind == START:
            if name == "t":
                in_text = True
            elif name in _CHARACTERS:
                paragraphs.add(_CHARACTERS[name])
            elif name == "p":
                paragraphs.start()
            elif name == "pStyle":
                paragraphs.set_level(levels.get(attributes.get("val", ""), 0))
            elif name == "tbl":
                table_depth += 1
            elif table_depth == 1:
                row.start(name, attributes.get("val", ""))
        elif name == "t":
            in_text = False
        elif name == "p":
            for level, line in paragraphs.end():
                if not (table_depth and row.add(line)):
                    yield level, line
        elif name == "tr" and table_depth == 1:
            yield 0, row.end()
        elif name == "tbl":
            table_depth -= 1


class _Row(RowCells):
    """A row whose cells may span several columns."""

    def __init__(self) -> None:
        super().__init__()
        self._missing = 0  # the number of further columns that the last cell spans

    def start(self, name: str, value: str) -> None:
        """Handle an element that starts or describes a cell."""
        if name == "tc":
            self._skip()
            self._cells.append([])
        elif name in ("gridSpan", "gridBefore") and value.isascii() and value.isdigit():
            self._missing = min(int(value[:3]), _MAX_SPAN) - (name == "gridSpan")

    def end(self) -> str:
        """Return the row, and start the next one."""
        self._missing = 0
        return super().end()

    def _skip(self) -> None:
        self._cells += [[] for _ in range(self._missing)]
        self._missing = 0
