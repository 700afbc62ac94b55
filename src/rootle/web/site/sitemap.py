"""The URLs in a sitemap (sitemaps.org)."""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

_MAX_BYTES: Final = 50_000_000
_MAX_URLS: Final = 50_000
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZLIB_OR_GZIP: Final = 47  # `wbits` of zlib: detect whether the header is that of zlib or gzip


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The pages and the further sitemaps that a sitemap lists."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]


class _RefusedError(Exception):
    """Raised when a sitemap declares entities, which could expand without limit."""


def parse_sitemap(content: bytes) -> Sitemap:
    """Return the URLs of a sitemap in XML or text; if it has an error, those before the error."""
    if content.startswith(_GZIP_MAGIC):
        try:
            content = zlib.decompressobj(_ZLIB_OR_GZIP).decompress(content, _MAX_BYTES)
        except zlib.error:
            return Sitemap((), ())
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = content.decode("utf-8", "replace").split()
        urls = [line for line in lines if line.startswith(("http://", "https://"))]
        return Sitemap(tuple(urls[:_MAX_URLS]), ())
    return _parse_xml(content)


def _parse_xml(content: bytes) -> Sitemap:
    found: dict[str, list[str]] = {"url": [], "sitemap": []}
    path: list[str] = []
    text: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        path.append(name.rpartition(" ")[2])
        text.clear()

    def end(_: str) -> None:
        if len(path) >= 2 and path[-1] == "loc" and path[-2] in found:
            urls = found[path[-2]]
            if len(urls) < _MAX_URLS:
                urls.append("".join(text).strip())
        path.pop()
        text.clear()

    def refuse(*_: object) -> None:
        raise _RefusedError

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text.append
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    with suppress(expat.ExpatError, _RefusedError):
        parser.Parse(content, True)
    return Sitemap(tuple(found["url"]), tuple(found["sitemap"]))
