"""Cursors: a position in a ranked list, bound to its query, generation and ranking."""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from rootle.errors import StaleCursorError
from rootle.protocols import Ids

_ADVICE: Final = "start again without a cursor"
# The digest of the query, the generation, the offset and the time of the first page. The signature
# and the expansion of the question follow.
_PAYLOAD: Final = struct.Struct(">16sQId")
_SIGNATURE_BYTES: Final = 9  # so that base64 needs no padding if there is no expansion


@dataclass(frozen=True, slots=True)
class Position:
    """The start of a page, with the data that all pages of an answer share."""

    offset: int
    as_of_s: float  # Unix time from which recency is counted
    expansion: str  # words that a language model added to the question
    _payload: bytes
    _signature: bytes

    def check(self, ranked_files: Ids) -> None:
        """Raise StaleCursorError unless the earlier pages had the same files in the same order."""
        is_inside = 0 < self.offset < len(ranked_files)
        if not is_inside or self._signature != _sign(self._payload, ranked_files[: self.offset]):
            raise StaleCursorError(
                "cursor invalidated: it was altered, or the question is now ranked differently, "
                f"for example because a server failed or recovered; {_ADVICE}"
            )


def encode_cursor(
    digest: bytes,
    generation: int,
    offset: int,
    as_of_s: float,
    ranked_files: Ids,
    expansion: str = "",
) -> str:
    """Return a cursor for the page that begins at `offset`."""
    fixed = _PAYLOAD.pack(digest, generation, offset, as_of_s)
    words = expansion.encode("utf-8", "replace")
    return _encode(fixed + _sign(fixed + words, ranked_files[:offset]) + words)


def decode_cursor(cursor: str, digest: bytes, generation: int) -> Position:
    """Return the position in a cursor. Call `Position.check` as soon as the ranking is known.

    Raise StaleCursorError if the cursor is unreadable or from another query or generation.
    """
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii"))
        fixed, rest = raw[: _PAYLOAD.size], raw[_PAYLOAD.size :]
        signature, words = rest[:_SIGNATURE_BYTES], rest[_SIGNATURE_BYTES:]
        cursor_digest, cursor_generation, offset, as_of_s = _PAYLOAD.unpack(fixed)
        expansion = words.decode("utf-8")
    except (binascii.Error, UnicodeError, struct.error) as error:
        raise StaleCursorError(f"cursor invalidated: it cannot be read; {_ADVICE}") from error
    if len(signature) != _SIGNATURE_BYTES or _encode(raw) != cursor:
        raise StaleCursorError(f"cursor invalidated: it cannot be read; {_ADVICE}")
    if cursor_digest != digest:
        raise StaleCursorError(f"cursor invalidated: it belongs to another question; {_ADVICE}")
    if cursor_generation != generation:
        raise StaleCursorError(f"cursor invalidated: the index has changed since; {_ADVICE}")
    return Position(offset, as_of_s, expansion, fixed + words, signature)


def _sign(payload: bytes, ranked_files: Ids) -> bytes:
    """Return a signature whose key is the ranking, so a cursor is valid only for this ranking."""
    key = blake2b(ranked_files.tobytes(), digest_size=32).digest()
    return blake2b(payload, key=key, digest_size=_SIGNATURE_BYTES).digest()


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii")
