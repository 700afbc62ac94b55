"""Apply `maxFileBytes`: cut the text of a larger file, and skip a larger document."""

from __future__ import annotations

import codecs
from typing import Final

from rootle.sources.files.skip_rules import TOO_LARGE

# UTF-16 files begin with a byte order mark.
_UTF16_NEWLINES: Final = {codecs.BOM_UTF16_LE: b"\n\0", codecs.BOM_UTF16_BE: b"\0\n"}


def check_document_size(size: int, max_bytes: int) -> str | None:
    """Return the reason to skip a document that a plugin reads; None if it is small enough.

    A document is never cut, because plugins cannot convert part of it.
    """
    return TOO_LARGE if size > max_bytes else None


def cut_text(raw: bytes, max_bytes: int) -> bytes:
    """Return the lines at the beginning of a text that fit into `max_bytes`.

    `raw` is longer than `max_bytes`. If not even the first line fits, return its beginning.
    """
    newline = _UTF16_NEWLINES.get(raw[:2], b"\n")
    width = len(newline)
    end = raw.rfind(newline, 0, max_bytes)
    while end >= 0 and end % width:
        end = raw.rfind(newline, 0, end + width - 1)
    if end >= 0:
        return raw[: end + width]
    end = max_bytes - max_bytes % width
    if width == 1:
        while end and raw[end] & 0xC0 == 0x80:  # do not cut a UTF-8 character
            end -= 1
    return raw[:end]
