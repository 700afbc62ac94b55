"""Read PNG and JPEG images: the diagram that is stored in them, or the text in the picture."""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final
from urllib.parse import unquote

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.diagrams.drawio import add_pages
from rootle.sources.documents.readers.images.tesseract import recognize_text
from rootle.sources.files.skip_rules import DAMAGED, IMAGE_WITHOUT_TEXT, TOO_LARGE

# Smaller images are icons, badges and thumbnails.
_MIN_WIDTH: Final = 200
_MIN_HEIGHT: Final = 100
# Tesseract needs about ten bytes per pixel, and the memory of the process is limited.
_MAX_PIXELS: Final = 40_000_000
MAX_IMAGE_BYTES: Final = 20_000_000
# Decoding percent signs needs ten times as much memory.
_MAX_STORED_BYTES: Final = 5_000_000
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8\xff"
# The beginnings of images that Tesseract can read: PNG, JPEG, TIFF, BMP, GIF, WebP and PNM. Any
# other file is for Tesseract a list of files to read.
_IMAGE: Final = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\0|MM\0\*|BM|GIF8[79]a|RIFF....WEBP|P[1-6]\s", re.DOTALL
)
_STORED_DIAGRAMS: Final = frozenset({b"mxfile", b"mxGraphModel"})
# The markers of JPEG segments that contain the size of the image, and of those without a length.
_SIZE_MARKERS: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_BARE_MARKERS: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def read_stored_diagram(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the pages of the draw.io diagram that is stored in a PNG image."""
    raw = file.read(MAX_IMAGE_BYTES)
    if not raw.startswith(_PNG):
        raise DocumentError(DAMAGED)
    found.language = "drawio"
    for xml in _stored_texts(raw):
        add_pages([xml.encode()], found)
    if not found.places:
        raise DocumentError(IMAGE_WITHOUT_TEXT)


def read_image(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the text that Tesseract recognizes in an image."""
    raw = _read_limited(file)
    width, height = _measure(raw)
    if width < _MIN_WIDTH or height < _MIN_HEIGHT:
        raise DocumentError(IMAGE_WITHOUT_TEXT)
    _add_text(raw, width * height, found)


def read_screenshot(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the text in an image of any size, in a format that Tesseract can read."""
    raw = _read_limited(file)
    if _IMAGE.match(raw) is None:
        raise DocumentError(DAMAGED)
    pixels = math.prod(_measure(raw)) if raw.startswith((_PNG, _JPEG)) else 0
    _add_text(raw, pixels, found)


def _read_limited(file: BinaryIO) -> bytes:
    raw = file.read(MAX_IMAGE_BYTES + 1)
    if len(raw) > MAX_IMAGE_BYTES:
        raise DocumentError(TOO_LARGE)
    return raw


def _add_text(raw: bytes, pixels: int, found: ExtractedDocument) -> None:
    if pixels > _MAX_PIXELS:
        raise DocumentError(TOO_LARGE)
    found.language = "image"
    text = recognize_text(raw)
    if not text:
        raise DocumentError(IMAGE_WITHOUT_TEXT)
    found.is_recognized = True
    found.add("image", text)


def _measure(raw: bytes) -> tuple[int, int]:
    """Return the width and the height of an image."""
    try:
        if raw.startswith(_PNG):
            width, height = struct.unpack_from(">II", raw, len(_PNG) + 8)
            return width, height
        if raw.startswith(_JPEG):
            return _measure_jpeg(raw)
    except struct.error:
        pass
    raise DocumentError(DAMAGED)


def _measure_jpeg(raw: bytes) -> tuple[int, int]:
    at = 2
    while at < len(raw):
        if raw[at] != 0xFF:
            raise DocumentError(DAMAGED)
        marker = raw[at + 1] if at + 1 < len(raw) else 0
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _BARE_MARKERS:
            at += 2
        elif marker in _SIZE_MARKERS:
            height, width = struct.unpack_from(">HH", raw, at + 5)
            return width, height
        else:
            at += 2 + max(2, struct.unpack_from(">H", raw, at + 2)[0])
    raise DocumentError(DAMAGED)


def _stored_texts(raw: bytes) -> Iterator[str]:
    """Yield the diagrams that draw.io stores in text chunks of a PNG image."""
    at = len(_PNG)
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
