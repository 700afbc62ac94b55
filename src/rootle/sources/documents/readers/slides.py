"""Read presentations: one place per slide, with its charts and its speaker notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.charts import read_chart
from rootle.sources.documents.readers.headed_text import join_cells
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.zip_container import (
    FALLBACK,
    START,
    TEXT,
    XmlEvent,
    ZipContainer,
    skip_elements,
)

# Placeholders with the same text on every slide, and the thumbnail of the slide on its notes page.
_IGNORED_PLACEHOLDERS: Final = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_SHAPES: Final = frozenset({"sp", "pic", "graphicFrame", "grpSp", "cxnSp"})
_TITLES: Final = frozenset({"title", "ctrTitle"})
NOTES_MARK: Final = "Notes:"


def read_slides(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the slides in the order of the presentation."""
    with ZipContainer(file, found) as container:
        read_properties(container, found)
        names = _slide_names(container)
        for number, name in enumerate(names, start=1):
            title, lines = _read_shapes(container, name)
            spoken: list[str] = []
            for kind, part in container.relations(name).values():
                if part not in container:
                    continue
                if kind == "notesSlide":
                    spoken += _read_shapes(container, part)[1]
                elif kind == "chart":
                    lines += read_chart(container, part)
                elif kind == "diagramData":  # SmartArt
                    lines += _read_shapes(container, part)[1]
            lines += [NOTES_MARK, *spoken] if spoken else []
            remaining = (len(names) - number) / number
            found.add(f"slide-{number}", "\n".join(lines), title, remaining)


def _slide_names(container: ZipContainer) -> list[str]:
    main = container.main_part()
    relations = container.relations(main)
    names = []
    for kind, name, attributes in container.events(main):
        if kind == START and name == "sldId":
            # `id` is a number, and `r:id` is the id of a relation. `r:id` takes precedence.
            target = relations.get(attributes.get("id", ""), ("", ""))[1]
            if container.has_listed(target):
                names.append(target)
    return names


def _read_shapes(container: ZipContainer, part: str) -> tuple[str, list[str]]:
    """Return the title of a slide, and its lines: the title, the paragraphs and the table rows."""
    titles: list[str] = []
    others: list[str] = []
    events = skip_elements(container.events(part), (FALLBACK,))
    for placeholder, lines in _list_shapes(events):
        if placeholder in _TITLES:
            titles += lines
        elif placeholder not in _IGNORED_PLACEHOLDERS:
            others += lines
    return " ".join(titles), titles + others


def _list_shapes(events: Iterator[XmlEvent]) -> Iterator[tuple[str, list[str]]]:
    """Yield the kind of placeholder ("" for other shapes) and the lines of each shape."""
    placeholder = ""
    lines: list[str] = []
    parts: list[str] = []
    cells: list[list[str]] = []
    in_text = in_cell = False
    for kind, name, attributes in events:
        if kind == TEXT:
            if in_text:
                parts.append(name)
        elif kind == START:
            if name in _SHAPES:
                yield placeholder, lines
                placeholder, lines = "", []
            elif name == "ph":
                placeholder = attributes.get("type", "body")
            elif name == "cNvPr" and attributes.get("descr"):
                # The description of a picture, in one line.
                lines.append(" ".join(attributes["descr"].split()))
            elif name == "t":
                in_text = True
            elif name == "br":
                parts.append(" ")
            elif name == "tc":
                in_cell = True
                cells.append([])
        elif name == "t":
            in_text = False
        elif name == "p":
            line, parts = " ".join("".join(parts).split()), []
            if line:
                (cells[-1] if in_cell else lines).append(line)
        elif name == "tc":
            in_cell = False
        elif name == "tr":
            if row := join_cells([" ".join(cell) for cell in cells]):
                lines.append(row)
            cells = []
    yield placeholder, lines
