"""Read what is drawn over the pages of PDF files: the values of forms, text boxes and comments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.sheet_places import add_comment

# Links have no text, and pop-ups repeat the text of their comment.
_WITHOUT_TEXT: Final = frozenset({pdfium_c.FPDF_ANNOT_LINK, pdfium_c.FPDF_ANNOT_POPUP})
_VALUES: Final = frozenset(
    {
        pdfium_c.FPDF_FORMFIELD_TEXTFIELD,
        pdfium_c.FPDF_FORMFIELD_COMBOBOX,
        pdfium_c.FPDF_FORMFIELD_LISTBOX,
        pdfium_c.FPDF_FORMFIELD_CHECKBOX,
        pdfium_c.FPDF_FORMFIELD_RADIOBUTTON,
    }
)
_UNCHECKED: Final = "Off"
_PASSWORD: Final = 1 << 13
_MAX_ANNOTATIONS: Final = 2_000  # per page
_MAX_BYTES: Final = 200_000  # per value; a longer one is left out
_BYTES_PER_CHAR: Final = 2


def prepare_forms(document: pdfium.PdfDocument) -> None:
    """Load the form of a document. This must be done before a page is loaded."""
    with suppress(pdfium.PdfiumError):
        document.init_forms()


def read_annotations(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, found: ExtractedDocument
) -> list[str]:
    """Return the lines of text that the annotations of a page contain.

    Annotations beyond a limit are counted as left out in `found`.
    """
    total = pdfium_c.FPDFPage_GetAnnotCount(page)
    count = min(total, _MAX_ANNOTATIONS)
    found.omit(total - count)
    # Without duplicates: each button in a group has the value of the group.
    lines: dict[str, None] = {}
    for number in range(count):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            lines.update(dict.fromkeys(_read_lines(document, annotation, found)))
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)
    return list(lines)


def _read_lines(
    document: pdfium.PdfDocument, annotation: Any, found: ExtractedDocument
) -> Iterator[str]:
    kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
    is_hidden = pdfium_c.FPDFAnnot_GetFlags(annotation) & pdfium_c.FPDF_ANNOT_FLAG_HIDDEN
    if is_hidden or kind in _WITHOUT_TEXT:
        return
    if kind == pdfium_c.FPDF_ANNOT_WIDGET:
        if document.formenv and (line := _read_field(document.formenv, annotation, found)):
            yield line
        return
    text = _read_string(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"Contents", found=found)
    if text:
        yield text if kind == pdfium_c.FPDF_ANNOT_FREETEXT else add_comment("", text)


def _read_field(form: pdfium.PdfFormEnv, annotation: Any, found: ExtractedDocument) -> str:
    """Return the name and the value of a field that is filled in, or ""."""
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind not in _VALUES:
        return ""
    is_text = kind == pdfium_c.FPDF_FORMFIELD_TEXTFIELD
    if is_text and pdfium_c.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return ""
    value = _read_string(pdfium_c.FPDFAnnot_GetFormFieldValue, form, annotation, found=found)
    if value in ("", _UNCHECKED):
        return ""
    name = _read_string(pdfium_c.FPDFAnnot_GetFormFieldAlternateName, form, annotation, found=found)
    name = name or _read_string(pdfium_c.FPDFAnnot_GetFormFieldName, form, annotation, found=found)
    return f"{name}: {value}" if name else value


def _read_string(function: Callable[..., int], *arguments: Any, found: ExtractedDocument) -> str:
    """Return a string from PDFium on one line. The first call of `function` returns its size."""
    size = function(*arguments, None, 0)
    if size <= 2:
        return ""
    if size > _MAX_BYTES:
        found.omit(size // _BYTES_PER_CHAR)
        return ""
    buffer = ctypes.create_string_buffer(size)
    pointer = ctypes.cast(buffer, ctypes.POINTER(pdfium_c.FPDF_WCHAR))
    function(*arguments, pointer, size)
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())
