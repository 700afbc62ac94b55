"""Documents in several formats for tests, some of them written by third-party libraries."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

ODF_NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
)
WORD_RELATIONS = (
    '<Relationships><Relationship Id="r1" Target="word/document.xml" '
    'Type="http://x/officeDocument"/></Relationships>'
)


def write_word(path: Path) -> None:
    import docx

    document = docx.Document()
    document.core_properties.title = "Risk report"
    document.add_heading("Introduction", 1)
    document.add_paragraph("The harbour expands to the north.")
    document.add_heading("Open questions", 2)
    document.add_paragraph("Who pays the lighthouse keeper?")
    table = document.add_table(2, 2)
    for row, cells in enumerate([("Item", "Cost"), ("Lamp", "300")]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.add_heading("Open questions", 2)
    document.add_paragraph("Which whale is the largest?")
    document.save(str(path))


def write_damaged_word(path: Path) -> None:
    """Write a document with an XML error between "The harbour" and "The lighthouse"."""
    paragraph = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("_rels/.rels", WORD_RELATIONS)
        file.writestr(
            "word/document.xml",
            '<w:document xmlns:w="w"><w:body>'
            + paragraph.format("The harbour")
            + "&undefined;"
            + paragraph.format("The lighthouse")
            + "</w:body></w:document>",
        )


def write_slides(path: Path) -> None:
    import pptx

    deck = pptx.Presentation()
    slides = [
        ("Milestones", "The submarine leaves in autumn", ""),
        ("Budget", "Travel doubled", "Mention the zeppelin"),
    ]
    for title, text, notes in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    deck.save(str(path))


def write_workbook(path: Path, rows: int = 100) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Costs"
    sheet.append(["Region", "Day", "Amount"])
    for number in range(rows):
        sheet.append([f"north{number}", date(2024, 1, 1) + timedelta(number), number * 1.5])
    book.create_sheet("Empty")
    book.save(path)


def write_pdf(path: Path, pages: Sequence[str], password: str = "") -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen import canvas

    encrypt = StandardEncryption(password) if password else None
    drawing = canvas.Canvas(str(path), encrypt=encrypt)
    drawing.setTitle("Field notes")
    for number, text in enumerate(pages, start=1):
        if text:
            drawing.drawString(100, 700, f"Chapter {number}")
            drawing.drawString(100, 650, text)
        drawing.showPage()
    drawing.save()


def write_notebook(
    path: Path, cells: Sequence[Mapping[str, Any]], language: str = "python"
) -> None:
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": {"language": language, "name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(notebook), encoding="utf-8")


def markdown_cell(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def code_cell(text: str, *outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": text, "outputs": list(outputs)}


def print_output(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}


def write_mail(path: Path, html: str = "") -> None:
    message = EmailMessage()
    message["Subject"] = "Invoice 17 für März"
    message["From"] = "Ada <ada@example.com>"
    message["Date"] = "Mon, 20 Nov 2023 10:00:00 +0000"
    if html:
        message.set_content(html, subtype="html")
    else:
        message.set_content("Please pay the invoice for the telescope.\n")
    message.add_attachment(
        b"%PDF-1.7", maintype="application", subtype="pdf", filename="invoice.pdf"
    )
    path.write_bytes(message.as_bytes())


def write_odf(path: Path, body: str) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "content.xml",
            f"<office:document-content {ODF_NAMES}><office:body>{body}</office:body>"
            "</office:document-content>",
        )


def write_book(path: Path, chapters: Sequence[str]) -> None:
    names = [f"c{number}.xhtml" for number in range(len(chapters))]
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "META-INF/container.xml",
            '<container><rootfiles><rootfile full-path="OEBPS/p.opf"/></rootfiles></container>',
        )
        file.writestr(
            "OEBPS/p.opf",
            '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
            "<dc:title>The sea</dc:title></metadata>"
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        )
        for name, text in zip(names, chapters, strict=True):
            file.writestr(f"OEBPS/{name}", text)
