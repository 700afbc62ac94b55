"""Write the labeled diagrams in many formats, with the code whose classes they name."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

Edge = tuple[str, str, str]  # source, target, label

# In these formats, the names of the classes are written as words: "Price calculator".
_SPACED: Final = frozenset({"mmd", "plantuml", "gv", "drawio-svg", "jpg"})


@dataclass(frozen=True)
class Diagram:
    """A diagram: the names of classes, and the labeled edges between them."""

    name: str
    format: str
    title: str
    edges: Sequence[Edge]

    @property
    def nodes(self) -> Sequence[str]:
        return list(dict.fromkeys(node for edge in self.edges for node in edge[:2]))

    @property
    def path(self) -> str:
        """The path of the file with the diagram."""
        return f"docs/{self.name}{_ENDINGS[self.format]}"

    def label(self, node: str) -> str:
        """Return the text of a node."""
        if self.format not in _SPACED:
            return node
        return " ".join(split_words(node)).capitalize()


def split_words(name: str) -> list[str]:
    """Return the words of a name in CamelCase, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z][a-z]*", name)]


def code_path(diagram: Diagram, node: str) -> str:
    """Return the path of the file that defines the class of a node."""
    return f"src/{diagram.name.replace('-', '_')}/{'_'.join(split_words(node))}.py"


def write_project(root: Path, diagrams: Sequence[Diagram]) -> None:
    """Write all diagrams, a page about each, and for each node its class, a use and a test."""
    for diagram in diagrams:
        _write(root / diagram.path, _WRITERS[diagram.format](diagram))
        for node in diagram.nodes:
            module = "_".join(split_words(node))
            folder = diagram.name.replace("-", "_")
            _write(root / code_path(diagram, node), _class_text(node))
            _write(root / f"tests/{folder}/test_{module}.py", _test_text(folder, module, node))
        _write(root / f"src/{folder}/wiring.py", _wiring_text(folder, diagram))
        guide = f"# {diagram.title}\n\nThe code is in `src/{folder}`; `wiring.py` connects it.\n"
        _write(root / f"guides/{diagram.name}.md", guide.encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _class_text(node: str) -> bytes:
    words = " ".join(split_words(node))
    return (
        f'"""The {words}."""\n\n\nclass {node}:\n    """One {words}."""\n\n'
        "    def __init__(self, settings):\n        self.settings = settings\n\n"
        "    def run(self, item):\n        return self.settings.get(item)\n"
    ).encode()


def _test_text(folder: str, module: str, node: str) -> bytes:
    return (
        f"from {folder}.{module} import {node}\n\n\n"
        f"def test_run():\n    assert {node}({{1: 2}}).run(1) == 2\n"
    ).encode()


def _wiring_text(folder: str, diagram: Diagram) -> bytes:
    imports = "".join(
        f"from {folder}.{'_'.join(split_words(node))} import {node}\n" for node in diagram.nodes
    )
    made = ", ".join(f"{node}(settings)" for node in diagram.nodes)
    return f"{imports}\n\ndef connect(settings):\n    return [{made}]\n".encode()


def _ids(diagram: Diagram) -> Mapping[str, str]:
    return {node: f"n{number}" for number, node in enumerate(diagram.nodes)}


def _mermaid(diagram: Diagram) -> str:
    ids = _ids(diagram)
    nodes = "".join(f"    {ids[node]}[{diagram.label(node)}]\n" for node in diagram.nodes)
    edges = "".join(f"    {ids[a]} -->|{label}| {ids[b]}\n" for a, b, label in diagram.edges)
    return f"---\ntitle: {diagram.title}\n---\nflowchart LR\n{nodes}{edges}"


def _mermaid_sequence(diagram: Diagram) -> str:
    ids = _ids(diagram)
    nodes = "".join(f"    participant {ids[n]} as {diagram.label(n)}\n" for n in diagram.nodes)
    edges = "".join(f"    {ids[a]}->>{ids[b]}: {label}\n" for a, b, label in diagram.edges)
    return f"sequenceDiagram\n    title {diagram.title}\n{nodes}{edges}"


def _plantuml(diagram: Diagram) -> str:
    ids = _ids(diagram)
    nodes = "".join(
        f'participant "{diagram.label(node)}" as {ids[node]}\n' for node in diagram.nodes
    )
    edges = "".join(f"{ids[a]} -> {ids[b]} : {label}\n" for a, b, label in diagram.edges)
    return f"@startuml\ntitle {diagram.title}\n{nodes}{edges}@enduml\n"


def _plantuml_components(diagram: Diagram) -> str:
    edges = "".join(
        f"[{diagram.label(a)}] --> [{diagram.label(b)}] : {label}\n"
        for a, b, label in diagram.edges
    )
    return f"@startuml {diagram.name}\ntitle {diagram.title}\n{edges}@enduml\n"


def _format_markdown(language: str, text: str, title: str) -> str:
    intro = "This page shows how the parts work together."
    return f"# {title}\n\n{intro}\n\n```{language}\n{text}```\n\nSee also the other pages.\n"


def _graphviz(diagram: Diagram) -> str:
    ids = _ids(diagram)
    nodes = "".join(f'  {ids[n]} [label="{diagram.label(n)}", shape=box];\n' for n in diagram.nodes)
    edges = "".join(f'  {ids[a]} -> {ids[b]} [label="{label}"];\n' for a, b, label in diagram.edges)
    return f'digraph {{\n  label="{diagram.title}";\n{nodes}{edges}}}\n'


def _graph_model(diagram: Diagram) -> str:
    ids = _ids(diagram)
    cells = ['<mxCell id="0"/><mxCell id="1" parent="0"/>']
    for node in diagram.nodes:
        value = escape(f"<b>{diagram.label(node)}</b>", quote=True)
        cells.append(f'<mxCell id="{ids[node]}" value="{value}" vertex="1" parent="1"/>')
    for number, (a, b, label) in enumerate(diagram.edges):
        cells.append(f'<mxCell id="e{number}" edge="1" parent="1" source="{ids[a]}" ')
        cells.append(f'target="{ids[b]}" value="{label}"/>')
    return f"<mxGraphModel><root>{''.join(cells)}</root></mxGraphModel>"


def _drawio(diagram: Diagram, *, compress: bool = False) -> str:
    model = _graph_model(diagram)
    if compress:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        raw = packer.compress(quote(model, safe="").encode()) + packer.flush()
        model = base64.b64encode(raw).decode()
    first = '<diagram id="a" name="Cover"><mxGraphModel><root/></mxGraphModel></diagram>'
    page = f'<diagram id="b" name="{diagram.title}">{model}</diagram>'
    return f'<mxfile host="app">{first}{page}</mxfile>'


def _drawio_svg(diagram: Diagram) -> str:
    content = escape(_drawio(diagram, compress=True), quote=True)
    shape = '<rect width="90" height="30"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" content="{content}"><g>{shape}</g></svg>'


def _drawio_png(diagram: Diagram) -> bytes:
    text = b"mxfile\0" + quote(_drawio(diagram), safe="").encode()
    header = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(9 * 8))
    chunks = [(b"IHDR", header), (b"tEXt", text), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(kind, body) for kind, body in chunks)


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + body))
    return struct.pack(">I", len(body)) + kind + body + checksum


def _graphviz_svg(diagram: Diagram) -> str:
    """Return an image in the form in which Graphviz writes it."""
    ids = _ids(diagram)
    groups = [
        f'<g class="node"><title>{ids[node]}</title><text>{diagram.label(node)}</text></g>'
        for node in diagram.nodes
    ]
    groups += [
        f'<g class="edge"><title>{ids[a]}&#45;&gt;{ids[b]}</title><text>{label}</text></g>'
        for a, b, label in diagram.edges
    ]
    doctype = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">'
    body = f'<g class="graph"><title>{diagram.title}</title>{"".join(groups)}</g>'
    return f'{doctype}<svg xmlns="http://www.w3.org/2000/svg">{body}</svg>'


def draw_boxes(diagram: Diagram, path: Path) -> None:
    """Draw a diagram as a PNG or JPEG image."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(18)
    image = Image.new("RGB", (1000, 120 + 130 * len(diagram.edges)), "white")
    drawing = ImageDraw.Draw(image)
    drawing.text((30, 20), diagram.title, font=font, fill="black")
    for row, (source, target, label) in enumerate(diagram.edges):
        y = 90 + 130 * row
        for x, node in ((30, source), (680, target)):
            drawing.rectangle((x, y, x + 260, y + 70), outline="black", width=2)
            drawing.text((x + 25, y + 24), diagram.label(node), font=font, fill="black")
        drawing.line((290, y + 45, 680, y + 45), fill="black", width=2)
        drawing.text((360, y + 12), label, font=font, fill="black")
    image.save(path)


def _picture(diagram: Diagram) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"picture.{diagram.format}"
        draw_boxes(diagram, path)
        return path.read_bytes()


def _as_bytes(write: Callable[[Diagram], str]) -> Callable[[Diagram], bytes]:
    return lambda diagram: write(diagram).encode()


def _list_writers() -> Iterator[tuple[str, str, Callable[[Diagram], bytes]]]:
    """Yield the name of each format, the ending of its files, and the function that writes it."""
    yield "mmd", ".mmd", _as_bytes(_mermaid)
    yield "mermaid", ".mermaid", _as_bytes(_mermaid_sequence)
    yield (
        "markdown-mermaid",
        ".md",
        _as_bytes(lambda one: _format_markdown("mermaid", _mermaid(one), one.title)),
    )
    yield "puml", ".puml", _as_bytes(_plantuml)
    yield "plantuml", ".plantuml", _as_bytes(_plantuml_components)
    yield (
        "markdown-plantuml",
        ".md",
        _as_bytes(lambda one: _format_markdown("plantuml", _plantuml(one), one.title)),
    )
    yield "dot", ".dot", _as_bytes(_graphviz)
    yield "gv", ".gv", _as_bytes(_graphviz)
    yield "drawio", ".drawio", _as_bytes(_drawio)
    yield "drawio-compressed", ".drawio", _as_bytes(lambda one: _drawio(one, compress=True))
    yield "drawio-svg", ".drawio.svg", _as_bytes(_drawio_svg)
    yield "drawio-png", ".drawio.png", _drawio_png
    yield "svg-graphviz", ".svg", _as_bytes(_graphviz_svg)
    yield "png", ".png", _picture
    yield "jpg", ".jpg", _picture


_ENDINGS: Final = {name: ending for name, ending, _ in _list_writers()}
_WRITERS: Final = {name: write for name, _, write in _list_writers()}
