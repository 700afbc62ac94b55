"""Read PDF files with PDFium: one place per page.

If the recognition of text is enabled, pages without text, such as scanned pages, are drawn and read
with Tesseract.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO, Final

import pypdfium2 as pdfium

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.images.tesseract import recognize_text
from rootle.sources.documents.readers.pdf_annotations import prepare_forms, read_annotations
from rootle.sources.documents.readers.split_words import SPLIT, join_split_words
from rootle.sources.documents.recognition import find_tesseract
from rootle.sources.files.skip_rules import DAMAGED, ENCRYPTED

_PASSWORD_ERROR: Final = 4  # FPDF_ERR_PASSWORD
_UNSUPPORTED_SECURITY: Final = 5  # FPDF_ERR_SECURITY
_MAX_TITLE_LINE: Final = 80
_POINTS_PER_INCH: Final = 72
# The resolution of drawn pages. Most scanners use 200 to 300 dots per inch; a higher resolution
# takes longer and does not improve the text.
_DOTS_PER_INCH: Final = 200
_MAX_PAGE_PIXELS: Final = 10_000_000
# A hyphen at the end of a line in text from Tesseract. (PDFium marks split words itself.)
_SPLIT_AFTER_RECOGNITION: Final = re.compile(r"(?<=[^\W\d_])-\n(?=\w)")


def read_pdf(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the text of all pages. With `found.recognizes`, text in scanned pages is recognized."""
    try:
        document = pdfium.PdfDocument(file)
    except pdfium.PdfiumError as error:
        code = getattr(error, "err_code", None)
        locked = code in (_PASSWORD_ERROR, _UNSUPPORTED_SECURITY)
        raise DocumentError(ENCRYPTED if locked else DAMAGED) from error
    try:
        with suppress(pdfium.PdfiumError, ValueError):
            found.title = document.get_metadata_value("Title").strip()
            found.author = document.get_metadata_value("Author").strip()
        prepare_forms(document)
        _read_pages(document, found)
    finally:
        # Split words are joined last, because the words on all pages show which hyphens belong to a
        # word. If a limit was reached, only the pages read so far are used.
        _join_words(found)
        document.close()


def _read_pages(document: pdfium.PdfDocument, found: ExtractedDocument) -> None:
    count = len(document)
    for number in range(1, count + 1):
        found.check_time((count - number) / number)
        try:
            page = document[number - 1]
            text_page = page.get_textpage()
            text = text_page.get_text_bounded()
            text_page.close()
            if not text.strip() and found.recognizes:
                text = _recognize(page, found)
            text = "\n".join([text, *read_annotations(document, page, found)])
            page.close()
        except pdfium.PdfiumError:
            found.omit(1)  # skip a damaged page, and read the others
            continue
        found.add(f"page-{number}", _clean(text), "", (count - number) / number)


def _join_words(found: ExtractedDocument) -> None:
    texts = join_split_words([place.text for place in found.places])
    found.places[:] = [
        replace(place, text=text, title=_title(text))
        for place, text in zip(found.places, texts, strict=True)
    ]


def _recognize(page: pdfium.PdfPage, found: ExtractedDocument) -> str:
    """Return the text in the picture of a page, or an empty string."""
    if find_tesseract() is None:
        return ""
    width, height = page.get_size()
    scale = _DOTS_PER_INCH / _POINTS_PER_INCH
    scale = min(scale, (_MAX_PAGE_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    rows = memoryview(bitmap.buffer).cast("B")
    lines = (
        bytes(rows[at : at + bitmap.width])
        for at in range(0, bitmap.stride * bitmap.height, bitmap.stride)
    )
    image = f"P5 {bitmap.width} {bitmap.height} 255\n".encode() + b"".join(lines)
    bitmap.close()
    try:
        text = recognize_text(image)
    except DocumentError:
        return ""  # skip a page that cannot be read, and read the others
    found.is_recognized = found.is_recognized or bool(text)
    return _SPLIT_AFTER_RECOGNITION.sub(SPLIT, text)


def _clean(text: str) -> str:
    """Replace the marks of split words, which differ between versions of PDFium, with `SPLIT`."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for mark in ("\ufffe\n", "\ufffe", "\u00ad\n"):
        text = text.replace(mark, SPLIT)
    return text


def _title(text: str) -> str:
    """Return the first line of a page if it can be a heading."""
    first = next((" ".join(line.split()) for line in text.split("\n") if line.strip()), "")
    is_heading = len(first) <= _MAX_TITLE_LINE and any(map(str.isalpha, first))
    return first if is_heading and not first.endswith((".", ",", ";", "-")) else ""
