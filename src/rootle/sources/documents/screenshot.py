"""Read the text in an image that the user names."""

from __future__ import annotations

import os
from typing import Final

from rootle.errors import QueryError
from rootle.sources.documents.child_process import DOCUMENT_PROCESS
from rootle.sources.documents.recognition import find_tesseract
from rootle.sources.files.skip_rules import DAMAGED, IMAGE_WITHOUT_TEXT

_MAX_CHARS: Final = 100_000
_FORMATS: Final = "PNG, JPEG, TIFF, BMP, GIF, WebP and PNM"


def read_screenshot(path: str) -> str:
    """Return the lines of text in an image; raise QueryError if there is none.

    The path may be a symbolic link.
    """
    real = os.path.realpath(path)
    if not os.path.isfile(real):
        raise QueryError(f"{path} is not a file: name an image, such as a PNG or JPEG file")
    if find_tesseract() is None:
        raise QueryError(
            f"{path} cannot be read without Tesseract: install it, for example with "
            "`apt-get install tesseract-ocr` or `brew install tesseract`"
        )
    found = DOCUMENT_PROCESS.read(*os.path.split(real), "screenshot", _MAX_CHARS)
    if isinstance(found, str):
        if found == IMAGE_WITHOUT_TEXT:
            raise QueryError(f"no text was recognized in {path}")
        if found == DAMAGED:
            raise QueryError(f"{path} is not an image, or is damaged; {_FORMATS} files are read")
        raise QueryError(f"{path} cannot be read as an image: {found}")
    return found.text
