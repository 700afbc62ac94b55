"""Extracts the text of a page as Markdown, without invisible characters."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

from rootle.errors import WebPageError
from rootle.web.charset_labels import find_codec
from rootle.web.html_child_process import convert_html
from rootle.web.page_download import DownloadedPage

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN: Final = frozenset(
    {"text/plain", "text/markdown", "text/x-markdown", "application/json", "text/json"}
)
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SNIFFED_BYTES: Final = 1_024
_META: Final = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
_LOOKS_LIKE_HTML: Final = re.compile(rb"\s*(?:<!--|<!doctype|<html|<head|<body)", re.IGNORECASE)
# Characters that people do not see, but models read: control characters, direction marks,
# zero-width characters and Unicode tags.
_INVISIBLE: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BLANK_LINES: Final = re.compile(r"\n{3,}")


def extract_text(page: DownloadedPage) -> str:
    """Return the text of a page, with HTML converted to Markdown.

    Invisible characters and repeated blank lines are removed. Raise WebPageError if the
    media type is not supported, or the page cannot be converted.
    """
    if is_html(page):
        text = convert_html(decode_page(page, is_html=True), page.url)
    elif page.media_type in _PLAIN or page.media_type.endswith("+json") or not page.media_type:
        text = decode_page(page, is_html=False)
    else:
        raise WebPageError(
            f"{page.url} is {page.media_type}; rootle reads HTML, plain text, Markdown and JSON"
        )
    text = remove_invisible(text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", lines).strip("\n")


def remove_invisible(text: str) -> str:
    """Return a text without invisible characters. Tabs and line feeds stay."""
    return _INVISIBLE.sub("", text)


def is_html(page: DownloadedPage) -> bool:
    """Return whether a page is HTML. Raise WebPageError if it is not text."""
    if page.media_type:
        return page.media_type in _HTML
    if b"\0" in page.body[:_SNIFFED_BYTES]:
        raise WebPageError(f"{page.url} has no media type and is not text")
    return _LOOKS_LIKE_HTML.match(page.body) is not None


def decode_page(page: DownloadedPage, *, is_html: bool) -> str:
    """Decode the body with the charset of its byte order mark, the HTTP header or a <meta> element.

    Without a known charset, decode it as UTF-8 or, if that fails, as cp1252.
    """
    codec = next(_declared_codecs(page, is_html=is_html), None)
    if codec is not None:
        return page.body.decode(codec, "replace")
    try:
        # An incremental decoder accepts an incomplete last character, as in a truncated page.
        return codecs.getincrementaldecoder("utf-8")().decode(page.body)
    except UnicodeDecodeError:
        return page.body.decode("cp1252", "replace")


def _declared_codecs(page: DownloadedPage, *, is_html: bool) -> Iterator[str]:
    """Yield the known codecs that a page declares, the most reliable declaration first."""
    yield from (codec for mark, codec in _BOMS if page.body.startswith(mark))
    codec = find_codec(page.charset)
    if codec is not None:
        yield codec
    for label in _META.findall(page.body[:_SNIFFED_BYTES]) if is_html else ():
        codec = find_codec(label.decode("ascii"))
        if codec is not None:
            # The pattern matched single bytes, so the page cannot be in UTF-16.
            yield "utf-8" if codec.startswith("utf-16") else codec
