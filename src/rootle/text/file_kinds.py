"""Classify files by path: text for readers, code, or code of other projects."""

from __future__ import annotations

import re
from typing import Final

from rootle.text.languages import DOCUMENTATION

_NOTEBOOK: Final = ".ipynb"
NOTEBOOK_OUTPUT: Final = "Output:"  # the comment above the output of a cell
# In these folders, HTML files and tables are written for readers. Elsewhere, most of them are
# templates and data of a program.
_DOCS_FOLDERS: Final = frozenset(
    "doc docs documentation guide guides javadoc man manual manuals wiki".split()
)
_VENDOR_FOLDER: Final = re.compile(
    r"(?:^|/)_?(?:vendor|vendors|vendored|third[-_]?party|3rd[-_]?party|node_modules"
    r"|bower_components)/",
    re.IGNORECASE,
)
_VENDORED: Final = re.compile(
    r"(?:^|/)(?:vendor|vendored|node_modules|third[_-]?party|deps|external|dist|\.yarn)/"
)


def is_document(path: str, language: str) -> bool:
    """Return whether a file contains text or tables for readers, so that `in:docs` includes it."""
    return (
        language in DOCUMENTATION
        or language == "csv"
        or path.lower().endswith(_NOTEBOOK)
        or is_page(path, language)
    )


def is_code(path: str, language: str) -> bool:
    """Return whether a file is not just text for readers, so that `in:code` includes it."""
    return language not in DOCUMENTATION or path.lower().endswith(_NOTEBOOK)


def is_page(path: str, language: str) -> bool:
    """Return whether an HTML file or a table is a part of documentation."""
    if language not in ("html", "csv"):
        return False
    return not _DOCS_FOLDERS.isdisjoint(path.lower().split("/")[:-1])


def is_in_vendor_folder(path: str) -> bool:
    """Return whether a file is in a folder whose name says that it has copies, such as `_vendor`.

    Unlike for `is_vendored`, folders such as `deps`, which may also have own code, do not count.
    """
    return _VENDOR_FOLDER.search(path) is not None


def is_vendored(path: str) -> bool:
    """Return whether a file is in a folder with copies of other projects."""
    return _VENDORED.search(path) is not None
