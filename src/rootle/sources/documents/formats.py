"""The formats of documents that are converted to text."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import Final

# Increment this number when the text, the places or the language of any format change. It is part
# of the fingerprint of an index, so existing indexes are then rebuilt.
READERS_VERSION: Final = 7

_EXTENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "notebook": ("ipynb",),
    "mail": ("eml",),
    "word": ("docx", "docm"),
    "slides": ("pptx", "pptm", "ppsx"),
    "spreadsheet": ("xlsx", "xlsm"),
    "opendocument": ("odt", "odp", "ods"),
    "book": ("epub",),
    "pdf": ("pdf",),
    "drawio": ("drawio", "dio"),
    "svg": ("svg",),
    "image": ("png", "jpg", "jpeg"),
}
IMAGE: Final = "image"  # read only if the configuration enables the recognition of text
# The formats of files whose names end in two extensions.
_COMPOUND: Final[dict[str, str]] = {".drawio.png": "drawio_png", ".dio.png": "drawio_png"}
_FORMATS: Final[dict[str, str]] = {
    extension: name for name, extensions in _EXTENSIONS.items() for extension in extensions
}
# Maps a format to the module that it needs and that `rootle[documents]` installs.
_MODULES: Final[dict[str, str]] = {"pdf": "pypdfium2"}
# Files of these formats are text, so damaged ones can still be indexed by lines.
_TEXT_FORMATS: Final = frozenset({"notebook", "mail"})


def document_format(path: str) -> str | None:
    """Return the format of a document; None for a text file and for files of other formats."""
    _, dot, extension = path.lower().rpartition("/")[2].rpartition(".")
    found = _FORMATS.get(extension) if dot else None
    if found == IMAGE:
        return next((name for end, name in _COMPOUND.items() if path.lower().endswith(end)), IMAGE)
    return found


def is_owner_file(path: str) -> bool:
    """Return whether this is a lock file, with which an office program marks a document as open."""
    return path.rpartition("/")[2].startswith(("~$", ".~lock."))


def is_text_format(name: str) -> bool:
    """Return whether files of a format are text that can also be indexed by lines."""
    return name in _TEXT_FORMATS


@cache
def can_read(name: str) -> bool:
    """Return whether the library that reads a format is installed."""
    module = _MODULES.get(name)
    return module is None or module in sys.modules or find_spec(module) is not None
