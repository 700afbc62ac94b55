"""Write documents in 22 formats, from one kilobyte to a few megabytes."""

from __future__ import annotations

import io
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.quality.document_samples import LabeledDocument, PlaceContent, write_document

_WORDS: Final = (
    "account agreement archive balance branch budget cable carrier channel charge circuit claim "
    "cluster contract courier customer delay deposit discount engine export failure filter fleet "
    "gateway harbour heating import index invoice journal kitchen label ledger license machine "
    "margin meeting meter network office order packet panel partner payment permit platform pump "
    "queue quota refund region release renewal repair report request return review roof route "
    "schedule sensor server shipment signal station stock storage supplier survey switch system "
    "table tariff tenant ticket timetable token tower train transfer tunnel turbine update valve "
    "vehicle vendor visitor voltage volume warehouse window worker "
    "and for from into of on that the this to when with without is was has must may every"
).split()
_PARAGRAPH_WORDS: Final = 60
_PART_PARAGRAPHS: Final = 5
# Minimum and maximum number of paragraphs of a small, an ordinary and a long document.
_PARAGRAPHS: Final = ((1, 12), (12, 60), (60, 900))
_SHARES: Final = (0.5, 0.4, 0.1)
# The share of documents with a picture, in formats that allow one. Pictures make up most of the
# size of these documents.
_PICTURE_SHARE: Final = 1 / 3
_PICTURE_PIXELS: Final = (60, 900)

ODF: Final = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
)


def write_documents(root: Path, count: int, seed: int = 20) -> dict[str, str]:
    """Write `count` documents; map the path of each to the word that occurs only at its end."""
    marks = {}
    for number in range(count):
        random = Random(seed * 1_000_003 + number)
        ending = list(_WRITERS)[number % len(_WRITERS)]
        path = f"{random.choice(_WORDS[:60])}/document-{number:04}.{ending}"
        marks[path] = f"zq{number:04}{_letters(random, 5)}"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        _WRITERS[ending](root / path, _make_parts(random, marks[path]), random)
    return marks


def picture(random: Random) -> bytes:
    """Return a PNG picture of noise, which cannot be compressed."""
    from PIL import Image

    width, height = (random.randint(*_PICTURE_PIXELS) for _ in range(2))
    image = Image.frombytes("RGB", (width, height), random.randbytes(width * height * 3))
    with io.BytesIO() as out:
        image.save(out, "PNG")
        return out.getvalue()


def _make_parts(random: Random, mark: str) -> list[PlaceContent]:
    (size,) = random.choices(_PARAGRAPHS, _SHARES)
    paragraphs = [_sentence(random) for _ in range(random.randint(*size))]
    paragraphs.append(f"The reference of this document is {mark}.")
    groups = [
        paragraphs[at : at + _PART_PARAGRAPHS] for at in range(0, len(paragraphs), _PART_PARAGRAPHS)
    ]
    return [
        {
            "title": f"{' '.join(random.choices(_WORDS[:60], k=3)).capitalize()} {number}",
            "text": "\n".join(group),
            "notes": _sentence(random),
        }
        for number, group in enumerate(groups, start=1)
    ]


def _sentence(random: Random) -> str:
    return " ".join(random.choices(_WORDS, k=_PARAGRAPH_WORDS)).capitalize() + "."


def _letters(random: Random, count: int) -> str:
    return "".join(random.choices("bcdfghjklmnpqrstvwxz", k=count))


def _write_office(path: Path, parts: list[PlaceContent], random: Random) -> None:
    """Write a Word or PowerPoint file, a notebook, an EPUB book or an email message."""
    if path.suffix == ".eml":
        whole = {"title": parts[0]["title"], "text": "\n\n".join(part["text"] for part in parts)}
        parts = [whole]
    write_document(path, LabeledDocument(path.name, parts[0]["title"], tuple(parts)))
    if path.suffix == ".eml":
        path.with_name(f"{path.stem}-1.eml").rename(path)
    elif path.suffix != ".ipynb":
        _add_picture(path, random)


def _add_picture(path: Path, random: Random) -> None:
    if random.random() < _PICTURE_SHARE:
        with zipfile.ZipFile(path, "a") as file:
            file.writestr("media/picture.png", picture(random))


def _write_pdf(path: Path, parts: list[PlaceContent], random: Random) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen import canvas

    drawing = canvas.Canvas(str(path))
    drawing.setTitle(parts[0]["title"])
    for part in parts:
        if random.random() < _PICTURE_SHARE / len(parts) ** 0.5:
            drawing.drawImage(ImageReader(io.BytesIO(picture(random))), 70, 50, 100, 100)
        lines = [part["title"], *textwrap.wrap(part["text"], 90)]
        for number, line in enumerate(lines):
            drawing.drawString(60, 790 - 14 * number, line)
        drawing.showPage()
    drawing.save()


def _write_workbook(path: Path, parts: list[PlaceContent], random: Random) -> None:
    rows = ["region;day;amount;note"]
    rows += [
        f"{random.choice(_WORDS[:60])};{number};{random.randint(1, 9_999)};{line[:80]}"
        for number, line in enumerate(_lines(parts))
    ]
    rows[-1] += f";{_lines(parts)[-1]}"
    sheet = {"title": "Costs", "text": "\n".join(rows)}
    write_document(path, LabeledDocument(path.name, "Costs", (sheet,)))
    _add_picture(path, random)


def _lines(parts: list[PlaceContent]) -> list[str]:
    return [line for part in parts for line in part["text"].split("\n")]


def write_odf(path: Path, body: str) -> None:
    """Write an OpenDocument file."""
    content = f"<office:document-content {ODF}><office:body>{body}</office:body>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("content.xml", f"{content}</office:document-content>")


def _write_odt(path: Path, parts: list[PlaceContent], random: Random) -> None:
    body = "".join(
        f'<text:h text:outline-level="1">{part["title"]}</text:h>'
        + "".join(f"<text:p>{line}</text:p>" for line in part["text"].split("\n"))
        for part in parts
    )
    write_odf(path, f"<office:text>{body}</office:text>")
    _add_picture(path, random)


def _write_odp(path: Path, parts: list[PlaceContent], random: Random) -> None:
    body = "".join(
        f"<draw:page><draw:frame><draw:text-box><text:p>{part['title']}</text:p>"
        + "".join(f"<text:p>{line}</text:p>" for line in part["text"].split("\n"))
        + "</draw:text-box></draw:frame></draw:page>"
        for part in parts
    )
    write_odf(path, f"<office:presentation>{body}</office:presentation>")
    _add_picture(path, random)


def _write_ods(path: Path, parts: list[PlaceContent], random: Random) -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = "".join(
        f"<table:table-row>{cell.format(random.randint(1, 9_999))}{cell.format(line)}"
        "</table:table-row>"
        for line in _lines(parts)
    )
    table = f'<table:table table:name="Costs">{rows}</table:table>'
    write_odf(path, f"<office:spreadsheet>{table}</office:spreadsheet>")
    _add_picture(path, random)


def _text_writer(
    form: str, whole: str = "{}"
) -> Callable[[Path, list[PlaceContent], Random], None]:
    """Return a writer of a text format, given a template for each part and one for the file."""

    def write(path: Path, parts: list[PlaceContent], random: Random) -> None:  # noqa: ARG001
        text = "".join(
            form.format(
                title=part["title"],
                text=part["text"],
                wrapped=textwrap.fill(part["text"], 90),
                last=part["text"].rpartition("\n")[2],
                flat=part["text"].replace("\n", " "),
                line="=" * len(part["title"]),
                name=part["title"].replace(" ", ""),
                number=number,
                minute=f"{number // 60:02}:{number % 60:02}",
            )
            for number, part in enumerate(parts)
        )
        path.write_text(whole.replace("{}", text), encoding="utf-8")

    return write


_WRITERS: Final[dict[str, Callable[[Path, list[PlaceContent], Random], None]]] = {
    "pdf": _write_pdf,
    "docx": _write_office,
    "pptx": _write_office,
    "xlsx": _write_workbook,
    "ipynb": _write_office,
    "epub": _write_office,
    "eml": _write_office,
    "odt": _write_odt,
    "odp": _write_odp,
    "ods": _write_ods,
    "html": _text_writer(
        "<h2>{title}</h2>\n<p>{text}</p>\n", "<html><body>\n{}</body></html>\n"
    ),
    "vtt": _text_writer("\n{minute}:00.000 --> {minute}:50.000\n{text}\n", "WEBVTT\n{}"),
    "rst": _text_writer("{title}\n{line}\n\n{text}\n\n"),
    "adoc": _text_writer("== {title}\n\n{text}\n\n"),
    "1": _text_writer(".SH {title}\n{text}\n", '.TH TOOL 1 "2024"\n{}'),
    "sql": _text_writer("/* {wrapped} */\n"
                        "CREATE TABLE {name} (id integer, note text);\n\n"),
    "proto": _text_writer(
        "/* {wrapped} */\nmessage {name} {{\n  string note = 1;\n}}\n\n", 'syntax = "proto3";\n{}'
    ),
    "graphql": _text_writer('"""\n{wrapped}\n"""\ntype {name} {{\n  note: String\n}}\n\n'),
    "yaml": _text_writer(
        "  /{name}:\n    get:\n      summary: {title}\n      description: {flat}\n",
        "openapi: 3.0.0\npaths:\n{}",
    ),
    "drawio": _text_writer(
        '<diagram name="{title}"><mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/>'
        '<mxCell id="2" parent="1" vertex="1" value="{last}"/></root></mxGraphModel></diagram>',
        "<mxfile>{}</mxfile>",
    ),
    "svg": _text_writer(
        "<text>{title}</text>\n<text>{text}</text>\n",
        '<svg xmlns="http://www.w3.org/2000/svg">\n{}</svg>\n',
    ),
    "puml": _text_writer("{name} -> Ledger: {title}\n' {flat}\n", "@startuml\n{}@enduml\n"),
}  # fmt: skip
