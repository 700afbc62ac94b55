"""Write the labeled documents in their formats, with source files among them."""

from __future__ import annotations

import html
import json
import re
import textwrap
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Final

LABELS: Final = Path(__file__).parents[1] / "labels/documents"
_PDF_COLUMNS: Final = 80
_NOT_IN_LABEL: Final = re.compile(r"[^\w\- ]")

# The keys are "title", "text" and "notes", or "code" and "output" in a notebook.
PlaceContent = Mapping[str, str]


@dataclass(frozen=True)
class LabeledDocument:
    """The contents of a document: its pages, slides, headings, cells, sheets or mails."""

    path: str  # the ending is the format
    title: str
    parts: tuple[PlaceContent, ...]

    @property
    def format(self) -> str:
        return self.path.rpartition(".")[2]

    def place(self, number: int) -> tuple[str, str]:
        """Return the path of the file and the label of a part, counted from 1."""
        title = self.parts[number - 1].get("title", "")
        if self.format == "eml":
            return f"{self.path.removesuffix('.eml')}-{number}.eml", "message"
        if self.format == "xlsx":
            rows = [line.split(";") for line in self.parts[number - 1]["text"].split("\n")]
            width = chr(ord("A") + max(map(len, rows)) - 1)
            return self.path, f"{title}!A1:{width}{len(rows)}"
        if self.format in ("docx", "epub"):
            return self.path, "-".join(_NOT_IN_LABEL.sub("", title).lower().split())
        kind = {"pdf": "page", "pptx": "slide", "ipynb": "cell"}[self.format]
        return self.path, f"{kind}-{number}"


def read_documents() -> dict[str, LabeledDocument]:
    """Return the documents, keyed by the names of their label files."""
    documents = {}
    for path in sorted(LABELS.glob("*.json")):
        if path.stem != "sources":
            data = json.loads(path.read_text("utf-8"))
            documents[path.stem] = LabeledDocument(
                data["path"], data["title"], tuple(data["places"])
            )
    return documents


def write_project(root: Path, documents: Sequence[LabeledDocument]) -> None:
    """Write all documents and the source files."""
    for name, text in json.loads((LABELS / "sources.json").read_text("utf-8")).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    for document in documents:
        write_document(root / document.path, document)


def write_document(path: Path, document: LabeledDocument) -> None:
    """Write one document; each mail of a thread becomes a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _WRITERS[document.format](path, document)


def _write_pdf(path: Path, document: LabeledDocument) -> None:
    from reportlab.pdfgen import canvas

    drawing = canvas.Canvas(str(path))
    drawing.setTitle(document.title)
    for part in document.parts:
        lines = [part["title"], "", *textwrap.wrap(part["text"], _PDF_COLUMNS)]
        for number, line in enumerate(lines):
            drawing.drawString(70, 760 - 16 * number, line)
        drawing.showPage()
    drawing.save()


def _write_word(path: Path, document: LabeledDocument) -> None:
    import docx

    file = docx.Document()
    file.core_properties.title = document.title
    for part in document.parts:
        file.add_heading(part["title"], 1)
        file.add_paragraph(part["text"])
    file.save(str(path))


def _write_slides(path: Path, document: LabeledDocument) -> None:
    import pptx

    deck = pptx.Presentation()
    deck.core_properties.title = document.title
    for part in document.parts:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = part["title"]
        slide.placeholders[1].text = part["text"].replace(". ", ".\n")
        slide.notes_slide.notes_text_frame.text = part["notes"]
    deck.save(str(path))


def _write_workbook(path: Path, document: LabeledDocument) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for part in document.parts:
        sheet = book.create_sheet(part["title"])
        for line in part["text"].split("\n"):
            sheet.append([int(cell) if cell.isdigit() else cell for cell in line.split(";")])
    book.save(path)


def _write_notebook(path: Path, document: LabeledDocument) -> None:
    cells = [_cell(part) for part in document.parts]
    kernel = {"kernelspec": {"language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), "utf-8")


def _cell(part: PlaceContent) -> dict[str, Any]:  # Any: JSON
    if "code" not in part:
        source = f"## {part['title']}\n{part['text']}"
        return {"cell_type": "markdown", "metadata": {}, "source": source}
    output = {"output_type": "stream", "name": "stdout", "text": part.get("output", "")}
    outputs = [output] if "output" in part else []
    return {"cell_type": "code", "metadata": {}, "source": part["code"], "outputs": outputs}


def _write_book(path: Path, document: LabeledDocument) -> None:
    names = [f"c{number}.xhtml" for number in range(len(document.parts))]
    kind = "application/xhtml+xml"
    items = "".join(f'<item id="{name}" href="{name}" media-type="{kind}"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = (
        '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>{html.escape(document.title)}</dc:title></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    root = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("META-INF/container.xml", root)
        file.writestr("p.opf", package)
        for name, part in zip(names, document.parts, strict=True):
            title, text = html.escape(part["title"]), html.escape(part["text"])
            file.writestr(name, f"<html><body><h1>{title}</h1><p>{text}</p></body></html>")


def _write_mails(path: Path, document: LabeledDocument) -> None:
    for number, part in enumerate(document.parts, start=1):
        message = EmailMessage()
        message["Subject"] = part["title"]
        message["From"] = "Sender <sender@example.com>"
        message["Date"] = "Mon, 20 May 2024 10:00:00 +0000"
        message.set_content(part["text"] + "\n")
        (path.parent / Path(document.place(number)[0]).name).write_bytes(message.as_bytes())


_WRITERS: Final = {
    "pdf": _write_pdf,
    "docx": _write_word,
    "pptx": _write_slides,
    "xlsx": _write_workbook,
    "ipynb": _write_notebook,
    "epub": _write_book,
    "eml": _write_mails,
}
