"""A position in a ranked list, as an opaque text bound to its question and generation."""

from __future__ import annotations

import base64
import binascii
import json
from hashlib import blake2b

from rootle.errors import StaleCursorError
from rootle.types import SearchQuery

_ADVICE = "start again without a cursor"


def encode_cursor(query: SearchQuery, generation: int, offset: int) -> str:
    data = json.dumps([_digest(query), generation, offset], separators=(",", ":"))
    return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, query: SearchQuery, generation: int) -> int:
    """The offset of the page; raises StaleCursorError where it does not belong here."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        digest, of_generation, offset = json.loads(raw)
    except (binascii.Error, ValueError, TypeError) as error:
        raise StaleCursorError(f"cursor invalidated: it cannot be read; {_ADVICE}") from error
    if not isinstance(offset, int) or offset < 0:
        raise StaleCursorError(f"cursor invalidated: it cannot be read; {_ADVICE}")
    if digest != _digest(query):
        raise StaleCursorError(f"cursor invalidated: it is of another question; {_ADVICE}")
    if of_generation != generation:
        raise StaleCursorError(f"cursor invalidated: the index has changed since; {_ADVICE}")
    return offset


def _digest(query: SearchQuery) -> str:
    parts = [query.text_query, query.file_paths, query.languages, query.min_recency_days]
    return blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()
