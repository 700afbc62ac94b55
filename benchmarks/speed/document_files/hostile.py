"""Write documents that are made to exhaust time or memory, or that are damaged or disguised."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import socket
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.speed.document_files.ordinary import ODF, picture, write_odf

_RELATIONS: Final = (
    '<Relationships><Relationship Id="r1" Target="{}" Type="http://x/officeDocument"/>'
    "</Relationships>"
)
_LAUGHS: Final = (
    '<!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise("abcdefghij"))
    + "]>"
)
_FILE_ENTITY: Final = '<!DOCTYPE x [<!ENTITY j SYSTEM "file:///etc/passwd">]>'
_BOOK: Final = (
    "<package><manifest>"
    '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="c"/></spine></package>'
)
_CONTAINER: Final = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
_REPEATS: Final = 4_000_000  # about 100 MB of paragraphs
_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5_000)

# For each format: the path of the text file in the archive, and the parts of this file: the text
# before the paragraphs, a template for each paragraph, and the text after them.
_XML: Final = {
    "docx": ("word/document.xml", "<w:document xmlns:w='w'>", "<w:p><w:r><w:t>{}</w:t></w:r></w:p>",
             "</w:document>"),
    "odt": ("content.xml", f"<office:x {ODF}><office:text>", "<text:p>{}</text:p>",
            "</office:text></office:x>"),
    "odp": ("content.xml", f"<office:x {ODF}><draw:page>", "<text:p>{}</text:p>",
            "</draw:page></office:x>"),
    "ods": ("content.xml", f"<office:x {ODF}><office:spreadsheet><table:table>",
            "<table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell>"
            "</table:table-row>", "</table:table></office:spreadsheet></office:x>"),
    "epub": ("c.xhtml", "<html><body>", "<p>{}</p>", "</body></html>"),
    "pptx": ("ppt/slide1.xml", "<p:sld xmlns:p='p' xmlns:a='a'><p:sp>",
             "<a:p><a:r><a:t>{}</a:t></a:r></a:p>", "</p:sp></p:sld>"),
    "xlsx": ("xl/sheet1.xml", "<worksheet><sheetData>",
             "<row><c t='inlineStr'><is><t>{}</t></is></c></row>", "</sheetData></worksheet>"),
}  # fmt: skip


def write_hostile_documents(root: Path, samples: Path) -> list[str]:
    """Write all hostile documents below `root`; return their paths.

    `samples` has one ordinary document of each format, named after its ending, such as `pdf`.
    """
    root.mkdir(parents=True)
    for write in (
        _write_bombs,
        _damage_files,
        _disguise_files,
        _lock_files,
        _write_deep_files,
        _write_pdfs,
        _write_large_files,
        _write_special_files,
        _write_archives,
    ):
        write(root, samples)
    return sorted(str(path.relative_to(root)) for path in _files(root))


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        yield from (Path(folder) / name for name in names)


def _write_container(path: Path, ending: str, blocks: Iterator[bytes]) -> None:
    """Write the smallest office document or book with a text part."""
    part = _XML[ending][0]
    others = {
        "docx": {"_rels/.rels": _RELATIONS.format("word/document.xml")},
        "pptx": {
            "_rels/.rels": _RELATIONS.format("ppt/p.xml"),
            "ppt/p.xml": "<p:p xmlns:p='p' xmlns:r='r'><p:sldId id='1' r:id='r1'/></p:p>",
            "ppt/_rels/p.xml.rels": _RELATIONS.format("slide1.xml"),
        },
        "xlsx": {
            "_rels/.rels": _RELATIONS.format("xl/w.xml"),
            "xl/w.xml": "<w xmlns:r='r'><sheet name='S' r:id='r1'/></w>",
            "xl/_rels/w.xml.rels": _RELATIONS.format("sheet1.xml"),
        },
        "epub": {"META-INF/container.xml": _CONTAINER, "p.opf": _BOOK},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, text in others.get(ending, {}).items():
            file.writestr(name, text)
        with file.open(part, "w", force_zip64=True) as stream:
            for block in blocks:
                stream.write(block)


def _body(ending: str, text: str, count: int = 1, declaration: str = "") -> Iterator[bytes]:
    _, start, one, end = _XML[ending]
    yield (declaration + start).encode()
    block = one.format(text).encode() * min(count, 10_000)
    for _ in range(max(1, count // 10_000)):
        yield block
    yield end.encode()


def _write_bombs(root: Path, samples: Path) -> None:  # noqa: ARG001
    for ending in _XML:
        _write_container(root / f"laughs.{ending}", ending, _body(ending, "&j;", 1, _LAUGHS))
        _write_container(root / f"entity.{ending}", ending, _body(ending, "&j;", 1, _FILE_ENTITY))
        _write_container(root / f"bomb.{ending}", ending, _body(ending, "boom", _REPEATS))
    for ending in ("docx", "odt", "epub"):
        huge = (b"a" * 1_000_000 for _ in range(500))
        start = _XML[ending][1] + _XML[ending][2].partition("{}")[0]
        _write_container(root / f"element.{ending}", ending, _chain(start.encode(), huge))
    (root / "laughs.svg").write_text(f"{_LAUGHS}<svg><text>&j;</text></svg>")
    (root / "laughs.drawio").write_text(f"{_LAUGHS}<mxfile><diagram>&j;</diagram></mxfile>")
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = b"".join(packed.compress(b" " * 1_000_000) for _ in range(500)) + packed.flush()
    (root / "bomb.drawio").write_bytes(
        b"<mxfile><diagram>" + base64.b64encode(raw) + b"</diagram></mxfile>"
    )


def _chain(start: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield start
    yield from blocks


def _damage_files(root: Path, samples: Path) -> None:
    random = Random(3)
    for sample in sorted(samples.iterdir()):
        raw = sample.read_bytes()
        ending = sample.name
        (root / f"empty.{ending}").write_bytes(b"")
        (root / f"half.{ending}").write_bytes(raw[: len(raw) // 2])
        changed = bytearray(raw)
        for _ in range(20):
            changed[random.randrange(len(changed))] ^= 0xFF
        (root / f"flipped.{ending}").write_bytes(changed)


def _disguise_files(root: Path, samples: Path) -> None:
    program = b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 200
    (root / "pdf.docx").write_bytes((samples / "pdf").read_bytes())
    (root / "docx.pdf").write_bytes((samples / "docx").read_bytes())
    (root / "xlsx.pptx").write_bytes((samples / "xlsx").read_bytes())
    (root / "picture.pdf").write_bytes(picture(Random(4)))
    (root / "text.xlsx").write_text("name;price\nlamp;3\n" * 100)
    (root / "program.pptx").write_bytes(program)
    (root / "program.eml").write_bytes(program)
    (root / "page.ipynb").write_text("<html><body>" + "<p>text</p>" * 1_000 + "</body></html>")
    (root / "gzip.epub").write_bytes(gzip.compress(bytes(100_000_000), 1))


def _lock_files(root: Path, samples: Path) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen import canvas

    drawing = canvas.Canvas(str(root / "locked.pdf"), encrypt=StandardEncryption("x"))
    drawing.drawString(60, 700, "secret")
    drawing.save()
    for ending in ("docx", "xlsx", "pptx"):
        (root / f"locked.{ending}").write_bytes(_OLD_OFFICE)
    for ending in ("odt", "ods"):
        with zipfile.ZipFile(root / f"locked.{ending}", "w") as file:
            file.writestr("META-INF/manifest.xml", "<m:manifest><m:encryption-data/></m:manifest>")
            file.writestr("content.xml", b"\x93\x01")
    raw = bytearray((samples / "docx").read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag "encrypted"
        at = raw.find(magic)
        while at >= 0:
            raw[at + offset] |= 1
            at = raw.find(magic, at + 4)
    (root / "locked-parts.docx").write_bytes(raw)


def _write_deep_files(root: Path, samples: Path) -> None:  # noqa: ARG001
    _write_container(root / "deep.docx", "docx", iter([b"<w:p>" * 1_000_000]))
    _write_container(root / "deep.epub", "epub", iter([b"<div>" * 1_000_000 + b"text"]))
    write_odf(root / "deep.odt", "<text:p>" * 300_000)
    (root / "deep.ipynb").write_text("[" * 5_000_000)
    (root / "deep.svg").write_text("<svg>" + "<g>" * 500_000 + "<text>x</text>")
    (root / "deep.yaml").write_text("openapi: 3.0.0\npaths: " + "[" * 200_000)
    (root / "deep.json").write_text('{"openapi": "3.0.0", "paths": ' + '{"a":' * 200_000)
    (root / "deep.html").write_text("<div>" * 300_000 + "text")
    (root / "deep.graphql").write_text("query q { a " * 100_000)
    parts = (f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(5_000))
    (root / "deep.eml").write_text("Subject: x\n" + "".join(parts))
    nested = "Content-Type: message/rfc822\n\nSubject: x\n" * 5_000
    (root / "nested.eml").write_text(f"Subject: x\n{nested}")


def _write_pdfs(root: Path, samples: Path) -> None:  # noqa: ARG001
    """Write PDF files with structures that no PDF library writes."""
    page = (
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {0} {0}]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>>>>>"
    )
    text = b"BT /F 12 Tf 10 10 Td (endless) Tj ET\n"
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    pages = "<</Type/Pages/Count {}/Kids[{}]>>"
    cases = {
        "loop": (pages.format(1_000_000, "2 0 R"), page.format(600), text),
        "parents": (pages.format(2, "3 0 R 2 0 R 3 0 R"), page.format(600), text),
        "count": (pages.format(2_000_000_000, "3 0 R"), page.format(600), text),
        "endless": (pages.format(500_000, "3 0 R " * 500_000), page.format(600), text),
        "size": (pages.format(1, "3 0 R"), page.format(9_999_999_999), text),
        "bomb": (pages.format(1, "3 0 R"), page.format(600), text * 8_000_000),
        "spaces": (pages.format(1, "3 0 R"), page.format(600), b" " * 800_000_000),
        "nested": (pages.format(1, "3 0 R"), page.format(600), b"q " * 5_000_000 + text),
        "dictionary": (pages.format(1, "3 0 R"), page.format(600) + "<<" * 500_000, text),
    }
    for name, (tree, first, content) in cases.items():
        packed = zlib.compress(content, 1)
        stream = f"<</Length {len(packed)}/Filter/FlateDecode>>stream\n".encode() + packed
        objects = [
            b"<</Type/Catalog/Pages 2 0 R>>", tree.encode(), first.encode(),
            stream + b"\nendstream", font.encode(),
        ]  # fmt: skip
        with (root / f"{name}.pdf").open("wb") as file:
            file.write(b"%PDF-1.4\n")
            for number, content in enumerate(objects, start=1):
                file.write(f"{number} 0 obj\n".encode() + content + b"\nendobj\n")
            file.write(b"trailer<</Root 1 0 R/Size 6>>\n%%EOF\n")


def _write_large_files(root: Path, samples: Path) -> None:  # noqa: ARG001
    for name in ("sparse.pdf", "sparse.pptx", "sparse.csv", "sparse.ipynb"):
        _write_sparse_file(root / name, 2 << 30)
    for name in ("below-limit.docx", "below-limit.pdf", "below-limit.eml", "below-limit.ipynb"):
        _write_sparse_file(root / name, 900_000_000)
    _write_sheets(root)
    (root / "cells.ipynb").write_text('{"cells": [' + '{"cell_type": "code"},' * 4_000_000 + "{}]}")
    (root / "lists.ipynb").write_text('{"cells": [' + "[]," * 30_000_000 + "{}]}")
    (root / "parts.eml").write_text(
        'Subject: x\nContent-Type: multipart/mixed; boundary="b"\n' + "\n--b\n\nx" * 3_000_000
    )
    (root / "headers.eml").write_text("Subject: x\n" + "X-A: =?utf-8?q?=41?=\n" * 1_000_000)
    (root / "line.csv").write_text("a;b;" * 1_200_000)
    (root / "columns.csv").write_text(";".join(f"column{n}" for n in range(300_000)) + "\n1\n")
    (root / "cues.vtt").write_text("WEBVTT\n" + "\n00:01.000 --> 00:02.000\na\n" * 140_000)
    (root / "tags.html").write_text("<" * 4_000_000)
    (root / "texts.svg").write_text("<svg>" + "<text>label</text>" * 270_000 + "</svg>")
    cells = '<mxCell id="1" vertex="1" value="a"/>' * 1_000_000
    (root / "cells.drawio").write_text(f"<mxfile><diagram><root>{cells}</root></diagram></mxfile>")
    embedded = "data:image/png;base64," + "A" * 40_000_000
    cell = {"cell_type": "markdown", "source": [embedded], "metadata": {}}
    (root / "embedded.ipynb").write_text(json.dumps({"cells": [cell] * 2}))


def _write_sparse_file(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def _write_sheets(root: Path) -> None:
    start = b"<worksheet><dimension ref='A1:XFD1048576'/><sheetData>"
    cell = b"<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>"
    _write_container(root / "dimensions.xlsx", "xlsx", iter([start, cell]))
    row = b"<row>" + b"<c><v>1</v></c>" * 16_384 + b"</row>"
    _write_container(root / "wide.xlsx", "xlsx", iter([start, row * 100]))
    repeated = (
        '<table:table table:name="A"><table:table-row table:number-rows-repeated="999999999">'
        '<table:table-cell table:number-columns-repeated="999999999"><text:p>x</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    write_odf(root / "repeated.ods", f"<office:spreadsheet>{repeated * 50}</office:spreadsheet>")
    relations = (
        "<Relationships><Relationship Id='r1' Target='sheet1.xml' Type='x/worksheet'/>"
        "<Relationship Id='r2' Target='s.xml' Type='x/sharedStrings'/></Relationships>"
    )
    with zipfile.ZipFile(root / "strings.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("_rels/.rels", _RELATIONS.format("xl/w.xml"))
        file.writestr("xl/w.xml", "<w xmlns:r='r'><sheet name='S' r:id='r1'/></w>")
        file.writestr("xl/_rels/w.xml.rels", relations)
        file.writestr("xl/sheet1.xml", "<worksheet><row><c t='s'><v>0</v></c></row></worksheet>")
        with file.open("xl/s.xml", "w", force_zip64=True) as stream:
            stream.write(b"<sst>")
            for number in range(1_000):
                items = (f"<si><t>s{number}-{item}</t></si>" for item in range(10_000))
                stream.write("".join(items).encode())
            stream.write(b"</sst>")


def _write_special_files(root: Path, samples: Path) -> None:  # noqa: ARG001
    for name in ("pipe.pdf", "pipe.docx"):
        os.mkfifo(root / name)
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(root)  # the path of a socket is limited to about 100 characters
        try:
            server.bind("socket.pdf")
        finally:
            os.chdir(here)
    (root / "loop.epub").symlink_to("loop.epub")
    (root / "endless.xlsx").symlink_to("/dev/zero")
    (root / "passwords.eml").symlink_to("/etc/passwd")
    (root / "folder.pdf").mkdir()
    (root / "folder.pdf/inner.docx").write_bytes(b"PK\x03\x04")


def _write_archives(root: Path, samples: Path) -> None:  # noqa: ARG001
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a", bytes(10_000_000))
    for level in range(8):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as file:
            for number in range(8):
                file.writestr(f"{level}-{number}.zip", inner.getvalue())
        inner = outer
    for name in ("recursive.epub", "recursive.docx"):
        (root / name).write_bytes(inner.getvalue())
    with zipfile.ZipFile(root / "names.docx", "w") as file:
        for number in range(150_000):
            file.writestr(f"{number}", b"")
    _write_slides_of_one_part(root / "slides.pptx", 100_000)


def _write_slides_of_one_part(path: Path, count: int) -> None:
    """Write a presentation in which all slides are the same part, which contains much text."""
    ids = "".join(f"<p:sldId id='{number}' r:id='r1'/>" for number in range(count))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("_rels/.rels", _RELATIONS.format("ppt/p.xml"))
        file.writestr("ppt/p.xml", f"<p:p xmlns:p='p' xmlns:r='r'>{ids}</p:p>")
        file.writestr("ppt/_rels/p.xml.rels", _RELATIONS.format("slide1.xml"))
        slide = b"".join(_body("pptx", "", 500_000))
        file.writestr("ppt/slide1.xml", slide)
