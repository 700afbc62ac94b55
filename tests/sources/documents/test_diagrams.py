"""The labels and edges that are read from diagrams."""

from __future__ import annotations

import base64
import zlib
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest
from diagram_files import GRAPH, GRAPH_TEXT, compress_page, drawio_file, png_with_text

from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_source import FileReader
from rootle.sources.files.skip_rules import BINARY, DAMAGED, IMAGE_WITHOUT_TEXT
from rootle.sources.source import Document

SVG = '<svg xmlns="http://www.w3.org/2000/svg">'


def read(folder: Path, name: str, content: str | bytes) -> Document | str:
    raw = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(raw)
    listed = [entry.uri for entry in walk_files(folder, WalkRules()).documents]
    assert name in listed
    return FileReader(str(folder), WalkRules(1_000_000)).read(name)


def text_of(found: Document | str) -> str:
    assert isinstance(found, Document), found
    return found.text.rstrip("\n")


@pytest.mark.slow
def test_a_drawio_file_has_a_place_for_each_page(tmp_path: Path) -> None:
    second = "<mxGraphModel><root><mxCell id='x' value='Lighthouse'/></root></mxGraphModel>"
    pages = drawio_file(("Deploy view", GRAPH), ("", second), ("Empty", ""))
    found = read(tmp_path, "a.drawio", pages)
    assert isinstance(found, Document)
    assert found.language == "drawio"
    assert [section.label for section in found.sections] == ["deploy-view", "page-2"]
    assert found.text == f"{GRAPH_TEXT}\n\nLighthouse\n"


@pytest.mark.parametrize(
    "page", [b"<mxGraphModel>\xff", b"no XML", b'<!DOCTYPE a [<!ENTITY b "">]>']
)
def test_a_damaged_page_hides_no_other_page(tmp_path: Path, page: bytes) -> None:
    packer = zlib.compressobj(wbits=-15)
    damaged = base64.b64encode(packer.compress(page) + packer.flush()).decode()
    pages = drawio_file(("Damaged", damaged), ("Good", GRAPH))
    assert text_of(read(tmp_path, "a.drawio", pages)) == GRAPH_TEXT


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.drawio", GRAPH),
        ("page.drawio", drawio_file(("One", compress_page(GRAPH)))),
        ("one.dio", drawio_file(("One", GRAPH))),
        (
            "one.drawio.svg",
            f'<svg xmlns="s" content="{quote("x")}"><title>{GRAPH_TEXT.split(chr(10), 1)[0]}'
            "</title></svg>",
        ),
    ],
)
def test_a_page_is_read_in_every_form(tmp_path: Path, name: str, content: str) -> None:
    expected = GRAPH_TEXT.split("\n", 1)[0] if name.endswith(".svg") else GRAPH_TEXT
    assert text_of(read(tmp_path, name, content)) == expected


def test_the_diagram_that_draw_io_stores_in_an_image_is_read(tmp_path: Path) -> None:
    file = drawio_file(("One", compress_page(GRAPH)))
    image = f'{SVG[:-1]} content="{escape(file)}"><text>drawn text</text></svg>'
    assert text_of(read(tmp_path, "a.svg", image)) == GRAPH_TEXT
    url = quote(file, safe="").encode()
    plain = png_with_text(b"tEXt", b"mxfile\0" + url)
    packed = png_with_text(b"zTXt", b"mxfile\0\0" + zlib.compress(url))
    for name, raw in (("a.drawio.png", plain), ("b.drawio.png", packed)):
        assert text_of(read(tmp_path, name, raw)) == GRAPH_TEXT
    other = read(tmp_path, "c.drawio.png", png_with_text(b"tEXt", b"Comment\0x"))
    assert other == IMAGE_WITHOUT_TEXT


def test_the_texts_of_an_svg_image_are_read_and_its_shapes_are_not(tmp_path: Path) -> None:
    content = (
        f"<?xml version='1.0'?><!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'svg11.dtd'>{SVG}"
        "<title>Life of a request</title><desc>From the browser to the disk</desc>"
        "<style>.a {fill: red}</style><path d='M0 0'/><text x='1'>Load<tspan x='1'>balancer"
        "</tspan></text><g aria-label='legend'/><foreignObject><div xmlns='h'>Queue<br/>depth"
        "</div></foreignObject></svg>"
    )
    found = read(tmp_path, "flow.svg", content)
    assert isinstance(found, Document)
    assert found.title == "Life of a request"
    assert found.text.split("\n") == [
        *("Life of a request", "From the browser to the disk", "Load balancer", "legend"),
        *("Queue", "depth", ""),
    ]


def test_text_in_angle_brackets_and_backslashes_are_kept(tmp_path: Path) -> None:
    lines = ["Map<ProductId, LineItem>", "<<interface>> Store", r"C:\new\notes", "<joe@e.com>"]
    texts = "".join(f"<text>{escape(line)}</text>" for line in lines)
    assert text_of(read(tmp_path, "t.svg", f"{SVG}{texts}</svg>")).split("\n") == lines
    plain = "".join(f'<mxCell id="{at}" value="{escape(x)}"/>' for at, x in enumerate(lines))
    html = f'<mxCell id="h" value="{escape(escape("List<Order>"))}" style="text;html=1"/>'
    page = f"<mxGraphModel><root>{plain}{html}</root></mxGraphModel>"
    found = text_of(read(tmp_path, "u.drawio", page))
    assert found.split("\n") == [*lines, "List<Order>"]


def test_a_terminal_that_is_drawn_keeps_its_lines(tmp_path: Path) -> None:
    words = ["$ harbour dock --all", "docking the first ship at the northern pier", "x" * 60]
    lines = "".join(f"<tspan x='1' y='{at}'>{line}</tspan>" for at, line in enumerate(words))
    assert text_of(read(tmp_path, "t.svg", f"{SVG}<text>{lines}</text></svg>")).split("\n") == words


def test_edges_that_graphviz_draws_name_their_nodes(tmp_path: Path) -> None:
    content = (
        f'{SVG}<g class="graph"><title>G</title>'
        '<g class="node"><title>n1</title><text>Token stream</text></g>'
        '<g class="node"><title>parser</title><text>parser</text></g>'
        '<g class="edge"><title>n1:out&#45;&gt;parser</title><text>words</text></g></g></svg>'
    )
    assert text_of(read(tmp_path, "g.svg", content)).split("\n") == [
        *("G", "Token stream", "parser", "Token stream -> parser: words")
    ]


def test_an_icon_has_no_text_and_a_sprite_has_the_names_of_its_symbols(tmp_path: Path) -> None:
    assert read(tmp_path, "icon.svg", f"{SVG}<path d='M0'/></svg>") == IMAGE_WITHOUT_TEXT
    shape = "<path d='" + "M10.123 20.456 " * 100 + "'/>"
    icons = "".join(f"<symbol id='icon-{number}'>{shape}</symbol>" for number in range(700))
    found = read(tmp_path, "sprite.svg", f"{SVG}{icons}</svg>")
    assert (tmp_path / "sprite.svg").stat().st_size > 1_000_000
    text = text_of(found)
    assert "icon-699" in text
    assert len(text) < 10_000


def test_only_the_first_names_of_a_large_map_are_read(tmp_path: Path) -> None:
    names = "".join(f"<text>street {number}</text>" for number in range(8_000))
    found = read(tmp_path, "map.svg", f"{SVG}{names}</svg>")
    assert isinstance(found, Document)
    assert found.text.count("\n") == 5_000
    assert found.omitted_chars == 3_000 * len("street 7999")


@pytest.mark.slow
def test_hostile_diagrams_are_named(tmp_path: Path) -> None:
    entities = '<!DOCTYPE svg [<!ENTITY a "boom"><!ENTITY b "&a;&a;&a;&a;">]>'
    assert read(tmp_path, "a.svg", f"{entities}{SVG}<text>&b;</text></svg>") == DAMAGED
    assert read(tmp_path, "b.drawio", f"{entities}<mxfile>&b;</mxfile>") == DAMAGED
    assert read(tmp_path, "c.svg", "<html><body>x</body></html>") == DAMAGED
    assert read(tmp_path, "d.drawio", "not xml") == DAMAGED
    deep = SVG + "<g>" * 200_000 + "<text>deep</text>"
    assert text_of(read(tmp_path, "f.svg", deep)) == "deep"


@pytest.mark.slow
def test_a_page_that_is_compressed_to_a_fraction_is_read_in_part(tmp_path: Path) -> None:
    bomb = GRAPH.replace("Alarm", "boom " * 8_000_000)
    found = read(tmp_path, "e.drawio", drawio_file(("One", compress_page(bomb))))
    assert len(text_of(found)) < 10_000


def test_other_images_are_binary_unless_their_text_is_requested(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.png").write_bytes(png_with_text(b"tEXt", b"mxfile\0x") + bytes(5000))
    skips = walk_files(tmp_path, WalkRules()).skips
    assert [(skip.uri, skip.reason) for skip in skips] == [("docs/a.png", BINARY)]
