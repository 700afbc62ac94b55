"""The format and the size of PNG and JPEG images, from their headers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from rootle.sources.documents.places import DocumentError
from rootle.sources.files.skip_rules import DAMAGED

# The smallest width and height, in pixels, of an image that is read. Smaller images are icons,
# badges and thumbnails.
_MIN_WIDTH: Final = 200
_MIN_HEIGHT: Final = 100
# Tesseract needs about ten bytes per pixel, and the memory of its process is limited.
MAX_PIXELS: Final = 40_000_000
MAX_IMAGE_BYTES: Final = 20_000_000
PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8\xff"
# The markers of the JPEG segments that contain the size of the image, and of the segments without a
# length.
SIZE_MARKERS: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_START_OF_PIXELS: Final = 0xDA
_BARE_MARKERS: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def media_type(raw: bytes) -> str:
    """Return "image/png" or "image/jpeg"; "" for other content."""
    if raw.startswith(PNG):
        return "image/png"
    return "image/jpeg" if raw.startswith(_JPEG) else ""


def is_small(width: int, height: int) -> bool:
    """Return whether an image is too small for a diagram or a screenshot."""
    return width < _MIN_WIDTH or height < _MIN_HEIGHT


def measure_image(raw: bytes) -> tuple[int, int]:
    """Return the width and height of a PNG or JPEG image; raise DocumentError for other files."""
    try:
        if raw.startswith(PNG) and raw.startswith(b"IHDR", len(PNG) + 4):
            width, height = struct.unpack_from(">II", raw, len(PNG) + 8)
            return width, height
        if raw.startswith(_JPEG):
            return _measure_jpeg(raw)
    except struct.error:
        pass
    raise DocumentError(DAMAGED)


def _measure_jpeg(raw: bytes) -> tuple[int, int]:
    for marker, at, _ in jpeg_segments(raw):
        if marker in SIZE_MARKERS:
            height, width = struct.unpack_from(">HH", raw, at + 1)
            return width, height
    raise DocumentError(DAMAGED)


def jpeg_segments(raw: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the marker, position and size of each segment before the pixels of a JPEG image.

    Raise DocumentError or struct.error if the image is damaged.
    """
    at = 2
    while at < len(raw):
        if raw[at] != 0xFF:
            raise DocumentError(DAMAGED)
        marker = raw[at + 1] if at + 1 < len(raw) else 0
        if marker == _START_OF_PIXELS:
            return
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _BARE_MARKERS:
            at += 2
        else:
            size = max(2, struct.unpack_from(">H", raw, at + 2)[0])
            yield marker, at + 4, size - 2
            at += 2 + size
