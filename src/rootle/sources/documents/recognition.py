"""Select the images in which text is recognized."""

from __future__ import annotations

import os
import shutil
import time
from functools import lru_cache
from typing import Final

from rootle.sources.files.skip_rules import BINARY, TOO_LARGE
from rootle.types import NEEDS_OCR

# The subfolder of an index that contains recognized texts.
RECOGNITION_DIR: Final = "images"

# Folders with documentation. Elsewhere, most images are icons, textures and test data.
_DOCS_FOLDERS: Final = frozenset(
    "adr adrs architecture design designs diagram diagrams doc docs documentation drawings figures "
    "guide guides manual manuals notes rfc rfcs screenshot screenshots spec specs specification "
    "uml whiteboard whiteboards wiki".split()
)
# Smaller files are skipped: even an image of 200 x 100 pixels with text has more bytes than this.
_MIN_BYTES: Final = 600
_MAX_BYTES: Final = 20_000_000
# Seconds for which the location of Tesseract is cached, because each update of an index looks it up
# once per image. A new installation is found after at most this time.
_LOOKUP_S: Final = 5.0


def find_tesseract() -> str | None:
    """Return the path of the program Tesseract, or None if it is not installed."""
    return _look_up(os.environ.get("PATH"), int(time.monotonic() // _LOOKUP_S))


@lru_cache(maxsize=1)
def _look_up(path: str | None, period: int) -> str | None:  # noqa: ARG001  # part of the cache key
    found = shutil.which("tesseract", path=path)
    # A relative entry in PATH could select a program in the current folder, which may be untrusted.
    return found if found is not None and os.path.isabs(found) else None


def reason_not_recognized(path: str, size: int, mode: str) -> str | None:
    """Return the reason to skip an image, given its path and its size in bytes; None to read it."""
    reason = reason_not_selected(path, size, mode)
    return NEEDS_OCR if reason is None and find_tesseract() is None else reason


def reason_not_selected(path: str, size: int, mode: str) -> str | None:
    """Return why the value `mode` of the setting `ocr` excludes an image; None if it does not."""
    if mode == "off" or size < _MIN_BYTES or not (mode == "all" or _is_in_docs(path)):
        return BINARY
    return TOO_LARGE if size > _MAX_BYTES else None


def _is_in_docs(path: str) -> bool:
    return not _DOCS_FOLDERS.isdisjoint(path.lower().split("/")[:-1])
