"""Read what is drawn over the pages of PDF files: the values of forms, text boxes and comments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

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
_MAX_BYTES: Final = 200_000  # per value


def prepare_forms(document: pdfium.PdfDocument) -> None:
    """Load the form of a document. This must be done before a page is loaded."""
    with suppress(pdfium.PdfiumError):
        document.init_forms()


def read_annotations(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> list[str]:
    """Return the lines of text that the annotations of a page contain."""
    count = min(pdfium_c.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)
    # Without duplicates: each button in a group has the value of the group.
    lines: dict[str, None] = {}
    for number in range(count):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            lines.update(dict.fromkeys(_lines_of(document, annotation)))
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)
    return list(lines)


def _lines_of(document: pdfium.PdfDocument, annotation: Any) -> Iterator[str]:
    kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
    is_hidden = pdfium_c.FPDFAnnot_GetFlags(annotation) & pdfium_c.FPDF_ANNOT_FLAG_HIDDEN
    if is_hidden or kind in _WITHOUT_TEXT:
        return
    if kind == pdfium_c.FPDF_ANNOT_WIDGET:
        if document.formenv and (line := _read_field(document.formenv, annotation)):
            yield line
        return
    text = _read_string(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"Contents")
    if text:
        yield text if kind == pdfium_c.FPDF_ANNOT_FREETEXT else add_comment("", text)


def _read_field(form: pdfium.PdfFormEnv, annotation: Any) -> str:
    """Return the name and the value of a field that is filled in, or ""."""
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind not in _VALUES:
        return ""
    is_text = kind == pdfium_c.FPDF_FORMFIELD_TEXTFIELD
    if is_text and pdfium_c.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return ""
    value = _read_string(pdfium_c.FPDFAnnot_GetFormFieldValue, form, annotation)
    if value in ("", _UNCHECKED):
        return ""
    name = _read_string(pdfium_c.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = name or _read_string(pdfium_c.FPDFAnnot_GetFormFieldName, form, annotation)
    return f"{name}: {value}" if name else value


def _read_string(function: Callable[..., int], *arguments: Any) -> str:
    """Return a string from PDFium on one line. The first call of `function` returns its size."""
    size = min(function(*arguments, None, 0), _MAX_BYTES)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pointer = ctypes.cast(buffer, ctypes.POINTER(pdfium_c.FPDF_WCHAR))
    if function(*arguments, pointer, size) > size:
        return ""  # a longer string is not copied
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())
