"""Read draw.io diagrams: one place per page, with the labels of shapes and connections.

A page is XML, or compressed XML. A diagram is a file of its own, or part of an SVG or PNG image.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final
from urllib.parse import unquote

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.diagrams.diagram_text import DiagramText, plain_html
from rootle.sources.documents.section_labels import make_label
from rootle.sources.documents.zip_container import END, START, TEXT, XmlEvent, read_xml
from rootle.sources.files.skip_rules import DAMAGED

_BLOCK_BYTES: Final = 65_536
_MAX_BYTES: Final = 100_000_000
# Maximum size of the decompressed page. Percent-decoding needs ten times as much memory.
_MAX_PAGE_BYTES: Final = 5_000_000
_MAX_CELLS: Final = 100_000
# In a damaged file, cells can be nested very deeply, or contain each other in a cycle.
_MAX_DEPTH: Final = 100
_ROOTS: Final = frozenset({"mxfile", "mxGraphModel"})
_OBJECTS: Final = frozenset({"UserObject", "object"})
# Attributes of an object that contain no visible text.
_NO_TEXT: Final = frozenset({"id", "label", "link", "placeholders", "tooltip"})


@dataclass(frozen=True, slots=True)
class _Cell:
    label: str
    parent: str
    is_edge: bool
    source: str
    target: str
    style: str


@dataclass
class _Page:
    name: str
    cells: dict[str, _Cell] = field(default_factory=dict)
    omitted_chars: int = 0

    def omit(self, chars: int) -> None:
        self.omitted_chars += chars


def read_drawio(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add a place for each page of a draw.io file."""
    found.language = "drawio"
    add_pages(read_blocks(file, _MAX_BYTES), found)


def add_pages(blocks: Iterable[bytes], found: ExtractedDocument) -> None:
    """Add a place for each page of a diagram, given as XML."""
    for number, page in enumerate(_read_pages(blocks, found), start=1):
        text = "\n".join(_lines(page))
        found.omit(page.omitted_chars)
        label = make_label(page.name) if page.name else f"page-{number}"
        found.add(label, text, page.name)


def read_blocks(file: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    """Yield the content of a file, up to the block that reaches the limit."""
    count = 0
    while count < max_bytes and (block := file.read(_BLOCK_BYTES)):
        count += len(block)
        yield block


def _read_pages(blocks: Iterable[bytes], found: ExtractedDocument) -> Iterator[_Page]:
    """Yield the pages of a file; a file that contains only a graph has one page."""
    page = _Page("")
    reader = _CellReader(page)
    compressed: list[str] = []
    depth = 0
    for event in read_xml(blocks, found.omit):
        if event.kind == START:
            depth += 1
            if depth == 1 and event.name not in _ROOTS:
                raise DocumentError(DAMAGED)
            if event.name == "diagram":
                page = _Page(" ".join(event.attributes.get("name", "").split()))
                reader, compressed = _CellReader(page), []
        elif event.kind == END:
            depth -= 1
            if event.name == "diagram":
                if not page.cells:
                    _decompress("".join(compressed), page)
                yield page
                page = _Page("")
                reader = _CellReader(page)
                continue
        elif not page.cells:
            compressed.append(event.name)
        reader.add(event)
    if page.cells:
        yield page


def _decompress(text: str, page: _Page) -> None:
    """Read the cells of a page that is stored as Base64 of compressed, percent-encoded XML."""
    text = text.strip()
    if not text:
        return
    try:
        stream = zlib.decompressobj(-15)
        raw = stream.decompress(base64.b64decode(text), _MAX_PAGE_BYTES)
    except (binascii.Error, ValueError, zlib.error):
        page.omit(len(text))  # skip a damaged page, and read the others
        return
    if not stream.eof:
        page.omit(max(1, len(stream.unconsumed_tail)))
    xml = raw.decode("utf-8", "replace")
    reader = _CellReader(page)
    blocks = [(unquote(xml) if xml.startswith("%") else xml).encode()]
    try:
        for event in read_xml(blocks, page.omit):
            reader.add(event)
    except DocumentError:
        page.omit(len(xml))


class _CellReader:
    """Adds the cells of a graph to a page. A cell with properties is inside an object element."""

    def __init__(self, page: _Page) -> None:
        self._page = page
        self._object: dict[str, str] | None = None

    def add(self, event: XmlEvent) -> None:
        if event.kind == TEXT:
            return
        if event.name in _OBJECTS:
            self._object = event.attributes if event.kind == START else None
        elif event.name == "mxCell" and event.kind == START:
            self._add_cell(event.attributes)

    def _add_cell(self, attributes: dict[str, str]) -> None:
        name = attributes.get("id", "")
        label = attributes.get("value", "")
        if self._object is not None:
            name, label = self._object.get("id", name), _object_label(self._object)
        style = attributes.get("style", "")
        if len(self._page.cells) >= _MAX_CELLS:
            self._page.omit(len(label))
        else:
            self._page.cells[name] = _Cell(
                plain_html(label) if _is_html(style) else " ".join(label.split()),
                attributes.get("parent", ""),
                attributes.get("edge") == "1",
                attributes.get("source", ""),
                attributes.get("target", ""),
                style,
            )


def _is_html(style: str) -> bool:
    """Return whether a style marks its label as HTML; otherwise draw.io shows tags as text."""
    return "html=1" in style.split(";")


def _object_label(attributes: dict[str, str]) -> str:
    own = attributes.get("label", "")
    # With placeholders, the label refers to the other attributes: "%name%".
    if attributes.get("placeholders") == "1":
        values = (value for key, value in attributes.items() if key not in _NO_TEXT)
        return " ".join((own.replace("%", " "), *values))
    return own


def _lines(page: _Page) -> Iterator[str]:
    """Yield the lines of a page. The label of a connection can be a cell inside the connection."""
    diagram = DiagramText()
    edge_labels: dict[str, list[str]] = {}
    for name, cell in page.cells.items():
        parent = page.cells.get(cell.parent)
        if cell.is_edge:
            edge_labels.setdefault(name, []).insert(0, cell.label)
        elif parent is not None and parent.is_edge:
            edge_labels.setdefault(cell.parent, []).append(cell.label)
        else:
            diagram.add_node(name, cell.label)
    for name, cell in page.cells.items():
        if cell.is_edge:
            arrow = "--" if "endArrow=none" in cell.style else "->"
            source, target = (
                _find_labeled(end, page, diagram) for end in (cell.source, cell.target)
            )
            label = " ".join(filter(None, edge_labels[name]))
            diagram.add_edge(source, target, label, arrow)
    page.omit(diagram.omitted_chars)
    yield from diagram.lines()


def _find_labeled(name: str, page: _Page, diagram: DiagramText) -> str:
    """Return this cell if it has a label, else the innermost cell around it that has one."""
    for _ in range(_MAX_DEPTH):
        if name in diagram.labels or name not in page.cells:
            break
        name = page.cells[name].parent
    return name
