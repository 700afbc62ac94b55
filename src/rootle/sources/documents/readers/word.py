"""Read Word documents: paragraphs by headings, tables, notes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.headed_text import HeadedText
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.zip_container import (
    END,
    START,
    TEXT,
    XmlEvent,
    ZipContainer,
    find_part,
    without_fallbacks,
)

_HEADING_STYLE: Final = re.compile(r"heading (\d)|(title)", re.IGNORECASE)
_NOTES: Final = ("footnotes", "endnotes", "comments")


def read_word(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the sections of a document. Deleted text of tracked changes is left out."""
    with ZipContainer(file, found.check_time) as container:
        read_properties(container, found)
        main = container.main_part()
        relations = container.relations(main)
        styles = find_part(relations, "styles")
        levels = _heading_levels(container, styles) if styles in container else {}
        text = HeadedText(found)
        _read_paragraphs(container.events(main), levels, text)
        for kind, name in relations.values():
            if kind in _NOTES and name in container:
                text.heading(1, kind.capitalize())
                _read_paragraphs(container.events(name), {}, text)
        text.end_section()


def _heading_levels(container: ZipContainer, part: str) -> dict[str, int]:
    """Return the heading levels of heading styles, and of styles that are based on one."""
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


def _read_paragraphs(events: Iterator[XmlEvent], levels: dict[str, int], text: HeadedText) -> None:
    parts: list[str] = []
    cells: list[str] = []
    level = table_depth = 0
    in_text = False
    for kind, name, attributes in without_fallbacks(events):
        if kind == TEXT:
            if in_text:
                parts.append(name)
        elif kind == START:
            if name == "t":
                in_text = True
            elif name in ("tab", "br", "cr"):
                parts.append("\t" if name == "tab" else "\n")
            elif name == "pStyle":
                level = levels.get(attributes.get("val", ""), 0)
            elif name == "tbl":
                table_depth += 1
        elif kind == END:
            if name == "t":
                in_text = False
            elif name == "p":
                line, parts = "".join(parts), []
                if table_depth:
                    cells.append(" ".join(line.split()))
                elif level:
                    text.heading(level, line)
                else:
                    text.paragraph(line)
                level = 0
            elif name == "tr" and table_depth == 1:
                text.paragraph(" | ".join(cell for cell in cells if cell))
                cells = []
            elif name == "tbl":
                table_depth -= 1
