"""Diagrams and pictures for tests."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from program_cache import install_debian_package

GRAPH = (
    "<mxGraphModel><root><mxCell id='0'/><mxCell id='1' parent='0'/>"
    "<mxCell id='a' value='&lt;b&gt;Retry&lt;/b&gt;Policy&lt;br&gt;per host' vertex='1' "
    "parent='1' style='rounded=1;html=1;'/>"
    "<mxCell id='b' value='Circuit breaker' vertex='1' parent='1'/>"
    "<UserObject id='c' label='Alarm' owner='night shift'>"
    "<mxCell vertex='1' parent='1'/></UserObject>"
    "<mxCell id='e' edge='1' source='a' target='b' parent='1'/>"
    "<mxCell id='f' value='opens after 5 failures' vertex='1' parent='e'/>"
    "<mxCell id='g' edge='1' source='b' target='c' value='page' style='endArrow=none' parent='1'/>"
    "</root></mxGraphModel>"
)
GRAPH_TEXT = (
    "RetryPolicy per host\nCircuit breaker\nAlarm\n"
    "RetryPolicy per host -> Circuit breaker: opens after 5 failures\n"
    "Circuit breaker -- Alarm: page"
)


def compress_page(model: str) -> str:
    """Return the form in which draw.io stores a compressed page."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = packer.compress(quote(model, safe="").encode()) + packer.flush()
    return base64.b64encode(raw).decode()


def drawio_file(*pages: tuple[str, str]) -> str:
    """Return a file with pages, each given by its name and its content."""
    found = "".join(f'<diagram name="{name}">{content}</diagram>' for name, content in pages)
    return f"<mxfile>{found}</mxfile>"


def png_with_text(kind: bytes, content: bytes) -> bytes:
    """Return a small PNG image with one text chunk."""
    header = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (kind, content), (b"IDAT", zlib.compress(bytes(72)))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in (*chunks, (b"IEND", b""))
    )


def draw_lines(path: Path, lines: Sequence[str], size: tuple[int, int] = (640, 240)) -> Path:
    """Draw lines of text as an image, in the format of the file extension."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", size, "white")
    drawing = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        drawing.text((20, 20 + 40 * row), line, font=ImageFont.load_default(20), fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path


def require_tesseract() -> None:
    """Install Tesseract if it is missing. If this is not allowed, fail with the command to run."""
    install_debian_package("tesseract", "tesseract-ocr")
