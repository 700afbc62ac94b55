"""Read PNG and JPEG images: the diagram that is stored in them, or the text in the picture."""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, Final
from urllib.parse import unquote

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.diagrams.drawio import add_pages
from rootle.sources.documents.readers.images.image_size import (
    MAX_IMAGE_BYTES,
    MAX_PIXELS,
    PNG,
    is_small,
    measure_image,
    media_type,
)
from rootle.sources.documents.readers.images.orientation import (
    UPRIGHT,
    read_orientation,
    turn_upright,
)
from rootle.sources.documents.readers.images.tesseract import recognize_text
from rootle.sources.files.skip_rules import DAMAGED, IMAGE_WITHOUT_TEXT, TOO_LARGE

# Maximum size of a stored diagram. Percent-decoding needs ten times as much memory.
_MAX_STORED_BYTES: Final = 5_000_000
# The first bytes of images that Tesseract can read: PNG, JPEG, TIFF, BMP, GIF, WebP and PNM.
# Tesseract treats any other file as a list of images to read.
_IMAGE: Final = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\0|MM\0\*|BM|GIF8[79]a|RIFF....WEBP|P[1-6]\s", re.DOTALL
)
_STORED_DIAGRAMS: Final = frozenset({b"mxfile", b"mxGraphModel"})


def read_stored_diagram(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the pages of the draw.io diagram that is stored in a PNG image."""
    raw = _read_limited(file)
    if not raw.startswith(PNG):
        raise DocumentError(DAMAGED)
    found.language = "drawio"
    for xml in _stored_texts(raw):
        add_pages([xml.encode()], found)
    if not found.places:
        raise DocumentError(IMAGE_WITHOUT_TEXT)


def read_image(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the text that Tesseract recognizes in an image."""
    raw = _read_limited(file)
    width, height = measure_image(raw)
    if is_small(width, height):
        raise DocumentError(IMAGE_WITHOUT_TEXT)
    _add_text(raw, width * height, found)


def read_screenshot(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the text in an image. It can be small, and in any format that Tesseract reads."""
    raw = _read_limited(file)
    if _IMAGE.match(raw) is None:
        raise DocumentError(DAMAGED)
    pixels = math.prod(measure_image(raw)) if media_type(raw) else 0
    _add_text(raw, pixels, found)


def _read_limited(file: BinaryIO) -> bytes:
    raw = file.read(MAX_IMAGE_BYTES + 1)
    if len(raw) > MAX_IMAGE_BYTES:
        raise DocumentError(TOO_LARGE)
    return raw


def _add_text(raw: bytes, pixels: int, found: ExtractedDocument) -> None:
    if pixels > MAX_PIXELS:
        raise DocumentError(TOO_LARGE)
    found.language = "image"
    text = _recognize(raw)
    if not text:
        raise DocumentError(IMAGE_WITHOUT_TEXT)
    found.is_recognized = True
    found.add("image", text)


def _recognize(raw: bytes) -> str:
    orientation = read_orientation(raw) if media_type(raw) == "image/jpeg" else UPRIGHT
    if orientation != UPRIGHT:
        with suppress(DocumentError, struct.error):  # damaged: read it unchanged
            return recognize_text(turn_upright(raw, orientation))
    return recognize_text(raw)


def _stored_texts(raw: bytes) -> Iterator[str]:
    """Yield the diagrams that draw.io stores in text chunks of a PNG image."""
    at = len(PNG)
    while at + 8 <= len(raw):
        size, kind = struct.unpack_from(">I4s", raw, at)
        body = raw[at + 8 : at + 8 + size]
        at += size + 12
        keyword, _, rest = body.partition(b"\0")
        if keyword not in _STORED_DIAGRAMS:
            continue
        if kind == b"tEXt":
            yield unquote(rest[:_MAX_STORED_BYTES].decode("latin-1"))
        elif kind == b"zTXt":
            yield unquote(_decompress(rest[1:]))
        elif kind == b"iTXt" and len(rest) > 2:
            body = rest[2:].split(b"\0", 2)[-1]
            plain = body[:_MAX_STORED_BYTES].decode("utf-8", "replace")
            yield unquote(_decompress(body) if rest[0] else plain)


def _decompress(raw: bytes) -> str:
    try:
        text = zlib.decompressobj().decompress(raw, _MAX_STORED_BYTES)
    except zlib.error as error:
        raise DocumentError(DAMAGED) from error
    return text.decode("utf-8", "replace")
