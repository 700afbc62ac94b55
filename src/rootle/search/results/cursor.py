"""A position in a ranked list, as an opaque text bound to its question, generation and ranking."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from rootle.errors import StaleCursorError
from rootle.protocols import Ids
from rootle.types import SearchQuery

_ADVICE: Final = "start again without a cursor"
# Digest of the question, generation, offset, time of the first page; then the seal.
_PLACE: Final = struct.Struct(">16sQId")
_SEAL_BYTES: Final = 9  # so that all fits into letters without padding


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page begins, and as of when its question is answered."""

    offset: int
    as_of_s: float  # so that days are counted from the same moment on every page
    _place: bytes
    _seal: bytes

    def check(self, ranked_files: Ids) -> None:
        """Raise StaleCursorError unless it was cut from this very ranking."""
        is_inside = 0 < self.offset < len(ranked_files)
        if not is_inside or self._seal != _seal(self._place, ranked_files):
            raise StaleCursorError(
                "cursor invalidated: it was altered, or the same question is ranked differently "
                f"now, as when a part of the search fails or recovers; {_ADVICE}"
            )


def encode_cursor(
    digest: bytes, generation: int, offset: int, as_of_s: float, ranked_files: Ids
) -> str:
    place = _PLACE.pack(digest, generation, offset, as_of_s)
    return _text_of(place + _seal(place, ranked_files))


def decode_cursor(cursor: str, digest: bytes, generation: int) -> Position:
    """The position in it, yet to be checked against the ranking.

    Raises StaleCursorError where it cannot be read or belongs to something else.
    """
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii"))
        place, seal = raw[: _PLACE.size], raw[_PLACE.size :]
        of_query, of_generation, offset, as_of_s = _PLACE.unpack(place)
    except (binascii.Error, UnicodeEncodeError, struct.error) as error:
        raise StaleCursorError(f"cursor invalidated: it cannot be read; {_ADVICE}") from error
    if len(seal) != _SEAL_BYTES or _text_of(raw) != cursor:
        raise StaleCursorError(f"cursor invalidated: it cannot be read; {_ADVICE}")
    if of_query != digest:
        raise StaleCursorError(f"cursor invalidated: it is of another question; {_ADVICE}")
    if of_generation != generation:
        raise StaleCursorError(f"cursor invalidated: the index has changed since; {_ADVICE}")
    return Position(offset, as_of_s, place, seal)


def query_digest(query: SearchQuery) -> bytes:
    """Of the question and its filters: what two pages of one answer have in common."""
    filters = _filters_text(query.file_paths, query.languages, query.min_recency_days)
    text = f"{query.text_query}\0{filters}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@lru_cache(maxsize=64)
def _filters_text(*filters: object) -> str:
    names = ("filePaths", "languages", "minRecencyDays")
    return json.dumps(dict(zip(names, filters, strict=True)))


def _seal(place: bytes, ranked_files: Ids) -> bytes:
    """The ranking is its key: nobody who does not know it can make a cursor into it."""
    key = blake2b(ranked_files.tobytes(), digest_size=32).digest()
    return blake2b(place, key=key, digest_size=_SEAL_BYTES).digest()


def _text_of(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii")
