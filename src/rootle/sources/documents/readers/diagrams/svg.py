"""Read SVG images: their titles, descriptions, texts and edges, not their shapes.

Graphviz marks nodes and edges, and draw.io stores its diagram in an attribute. In a sprite (a file
of many icons), the names of the icons are kept, because code refers to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.diagrams.diagram_text import DiagramText
from rootle.sources.documents.readers.diagrams.drawio import add_pages, read_blocks
from rootle.sources.documents.zip_container import END, START, TEXT, XmlEvent, read_xml
from rootle.sources.files.skip_rules import DAMAGED, IMAGE_WITHOUT_TEXT

_MAX_BYTES: Final = 50_000_000
# Maximum number of lines of text. A map can contain the names of all streets of a city.
_MAX_LINES: Final = 5_000
_MAX_SYMBOLS: Final = 2_000
_MAX_SYMBOL_CHARS: Final = 80
_TEXTS: Final = frozenset({"text", "title", "desc"})
# HTML elements inside an image that begin a new line.
_HTML_BLOCKS: Final = frozenset({"div", "p", "li", "br", "td", "foreignObject"})
# A text of at most this length is a label, so its lines are joined. The lines of a longer text,
# such as the content of a terminal, are kept apart.
_MAX_LABEL_CHARS: Final = 100
_LINE_END: Final = "\0"  # does not occur in XML
_NOT_SHOWN: Final = frozenset({"style", "script"})
_MAX_DEPTH: Final = 6  # the nesting depth of spans and links in a text element
_ARROWS: Final = ("->", "--")


def read_svg(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the text of an image as one place, or the pages of a draw.io diagram."""
    found.language = "svg"
    reader = _SvgReader()
    for event in read_xml(read_blocks(file, _MAX_BYTES), found.omit, allow_doctype=True):
        if not reader.is_started and event.kind == START:
            if event.name != "svg":
                raise DocumentError(DAMAGED)
            content = event.attributes.get("content", "")
            if "<mxfile" in content or "<mxGraphModel" in content:
                add_pages([content.encode()], found)
                if found.places:
                    return
        reader.add(event)
    lines = list(reader.lines())
    if not lines:
        raise DocumentError(IMAGE_WITHOUT_TEXT)
    found.title = reader.title
    found.omit(reader.omitted_chars + sum(map(len, lines[_MAX_LINES:])))
    found.add("diagram-1", "\n".join(lines[:_MAX_LINES]), reader.title)


class _SvgReader:
    """Collects the texts of an image. Each group that Graphviz marks is a node or an edge."""

    def __init__(self) -> None:
        self.title = ""
        self.is_started = False
        self._diagram = DiagramText()
        self._lines: list[str] = []
        self._symbols: list[str] = []
        self._omitted_symbols = 0  # in characters
        self._path: list[tuple[str, str]] = []  # the names and classes of open elements
        self._parts: list[str] = []
        self._group: dict[str, str] = {}  # the texts of the open node or edge
        self._html = 0

    def add(self, event: XmlEvent) -> None:
        self.is_started = True
        if event.kind == START:
            self._start(event.name, event.attributes)
        elif event.kind == END:
            self._end(event.name)
        elif event.kind == TEXT and self._collects():
            self._parts.append(event.name)

    @property
    def omitted_chars(self) -> int:
        return self._omitted_symbols + self._diagram.omitted_chars

    def lines(self) -> Iterator[str]:
        """Yield all texts and edges, and the names of icons."""
        yield from dict.fromkeys(self._lines)
        known = set(self._lines)
        yield from (line for line in self._diagram.lines() if line not in known)
        if self._symbols:
            yield "symbols: " + ", ".join(dict.fromkeys(self._symbols))

    def _collects(self) -> bool:
        """Return whether the text at this position is visible in the image."""
        if not self._path or self._path[-1][0] in _NOT_SHOWN:
            return False
        return bool(self._html) or any(name in _TEXTS for name, _ in self._path[-_MAX_DEPTH:])

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("class", "")
        if name == "foreignObject":
            self._html += 1
        if name in _TEXTS or name in _HTML_BLOCKS:
            self._flush("")
        elif name == "tspan" and self._parts and (attributes.keys() & {"x", "y", "dy"}):
            self._parts.append(_LINE_END)
        elif name == "symbol" and "id" in attributes:
            kept = attributes["id"][:_MAX_SYMBOL_CHARS] if len(self._symbols) < _MAX_SYMBOLS else ""
            self._symbols += [kept] if kept else []
            self._omitted_symbols += len(attributes["id"]) - len(kept)
        elif name == "g" and kind in ("node", "edge"):
            self._group = {}
        if label := " ".join(attributes.get("aria-label", "").split()):
            self._lines.append(label)
        self._path.append((name, kind))

    def _end(self, name: str) -> None:
        if name in _TEXTS or name in _HTML_BLOCKS:
            self._flush(name)
        if name == "foreignObject":
            self._html -= 1
        if self._path:
            _, kind = self._path.pop()
            if name == "g" and kind in ("node", "edge") and self._group:
                self._close_group(kind)

    def _flush(self, name: str) -> None:
        text, self._parts = "".join(self._parts), []
        for line in [text] if len(text) <= _MAX_LABEL_CHARS else text.split(_LINE_END):
            self._add_text(name, " ".join(line.replace(_LINE_END, " ").split()))

    def _add_text(self, name: str, text: str) -> None:
        if not text:
            return
        parent = self._path[-2][1] if len(self._path) > 1 else ""
        if name == "title" and parent in ("node", "edge"):
            self._group["title"] = text
        elif any(kind in ("node", "edge") for _, kind in self._path):
            self._group["text"] = f"{self._group.get('text', '')} {text}".strip()
        else:
            self._lines.append(text)
        if name == "title" and not self.title and len(self._path) <= 3:
            self.title = text

    def _close_group(self, kind: str) -> None:
        title, text = self._group.get("title", ""), self._group.get("text", "")
        self._group = {}
        if kind == "node":
            self._diagram.add_node(title, text or title)
            return
        for arrow in _ARROWS:
            source, sign, target = title.partition(arrow)
            if sign:
                # Edges of Graphviz can name a port of a node, as in "parser:out".
                source, target = source.partition(":")[0], target.partition(":")[0]
                self._diagram.add_edge(source, target, text, arrow)
                return
        self._lines.append(text or title)
