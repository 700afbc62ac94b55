"""Turn photos upright. Cameras store the orientation of a photo but do not rotate its pixels.

Tesseract ignores the stored orientation of JPEG images, but not that of TIFF images. A TIFF image
can contain a whole JPEG image, so a TIFF header is added and no pixel is decoded.
"""

from __future__ import annotations

import struct
from typing import Final

from rootle.sources.documents.places import DocumentError
from rootle.sources.documents.readers.images.image_size import SIZE_MARKERS, jpeg_segments
from rootle.sources.files.skip_rules import DAMAGED

UPRIGHT: Final = 1
# The highest value of an orientation. Tesseract reads images with Leptonica, and Leptonica 1.82
# wrongly turns colored images with this orientation upside down.
_LAST: Final = 8
_APP1: Final = 0xE1
_EXIF: Final = b"Exif\0\0"
_ORIENTATION: Final = 274
_MAX_TAGS: Final = 200
_TIFF_HEADER: Final = b"II*\0" + struct.pack("<I", 8)
_SHORT: Final = 3
_LONG: Final = 4
_JPEG_COMPRESSION: Final = 7
_GRAY: Final = 1
_YCBCR: Final = 6


def read_orientation(raw: bytes) -> int:
    """Return the orientation in the EXIF data of a JPEG image: 1 (upright) to 8."""
    try:
        for marker, at, size in jpeg_segments(raw):
            if marker == _APP1 and raw.startswith(_EXIF, at):
                return _find_orientation(raw[at + len(_EXIF) : at + size])
    except (struct.error, DocumentError):
        pass
    return UPRIGHT


def _find_orientation(exif: bytes) -> int:
    order = ">" if exif.startswith(b"MM") else "<"
    (first,) = struct.unpack_from(f"{order}I", exif, 4)
    (count,) = struct.unpack_from(f"{order}H", exif, first)
    for number in range(min(count, _MAX_TAGS)):
        tag, _, _, value = struct.unpack_from(f"{order}HHIH", exif, first + 2 + 12 * number)
        if tag == _ORIENTATION:
            return value if UPRIGHT <= value <= _LAST else UPRIGHT
    return UPRIGHT


def turn_upright(raw: bytes, orientation: int) -> bytes:
    """Return a TIFF image that contains a JPEG image and states its orientation.

    Raise DocumentError if the JPEG image is damaged, or has neither one nor three channels.
    """
    width, height, channels = _measure(raw)
    count = 10
    bits_at = len(_TIFF_HEADER) + 2 + 12 * count + 4
    bits = struct.pack("<3H", 8, 8, 8)
    tags = [
        _tag(256, _LONG, width),
        _tag(257, _LONG, height),
        _tag(258, _SHORT, bits_at, 3) if channels == 3 else _tag(258, _SHORT, 8),
        _tag(259, _SHORT, _JPEG_COMPRESSION),
        _tag(262, _SHORT, _YCBCR if channels == 3 else _GRAY),
        _tag(273, _LONG, bits_at + len(bits)),  # the position of the pixels
        _tag(_ORIENTATION, _SHORT, orientation),
        _tag(277, _SHORT, channels),
        _tag(278, _LONG, height),  # all rows are in one strip
        _tag(279, _LONG, len(raw)),
    ]
    return b"".join([_TIFF_HEADER, struct.pack("<H", count), *tags, bytes(4), bits, raw])


def _measure(raw: bytes) -> tuple[int, int, int]:
    """Return the width, the height and the number of channels of a JPEG image."""
    for marker, at, _ in jpeg_segments(raw):
        if marker in SIZE_MARKERS:
            height, width, channels = struct.unpack_from(">HHB", raw, at + 1)
            if channels in (1, 3):
                return width, height, channels
    raise DocumentError(DAMAGED)


def _tag(number: int, kind: int, value: int, count: int = 1) -> bytes:
    return struct.pack("<HHII", number, kind, count, value)
