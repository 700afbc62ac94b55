"""The cursor of a symbol answer: an offset that is valid for one question and generation."""

from __future__ import annotations

import base64
import binascii
from hashlib import blake2b

from rootle.errors import StaleCursorError

_ADVICE = "ask again without a cursor"


def encode_offset(offset: int, question: str, generation: int) -> str:
    """Return a cursor for the uses from `offset` on."""
    raw = f"{offset} {generation} {_digest(question)}"
    return base64.urlsafe_b64encode(raw.encode("ascii")).decode("ascii")


def decode_offset(cursor: str, question: str, generation: int) -> int:
    """Return the offset in a cursor.

    Raise StaleCursorError if the cursor is unreadable or from another question or generation.
    """
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii")
        offset, written, digest = raw.split(" ")
        position, known = int(offset), int(written)
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise StaleCursorError(f"cursor invalidated: it cannot be read; {_ADVICE}") from error
    if digest != _digest(question):
        raise StaleCursorError(f"cursor invalidated: it belongs to another question; {_ADVICE}")
    if known != generation:
        raise StaleCursorError(f"cursor invalidated: the index has changed since; {_ADVICE}")
    return max(position, 0)


def _digest(question: str) -> str:
    return blake2b(question.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
