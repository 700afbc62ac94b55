"""The text of a page: of whatever charset and type, as Markdown."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import Final

from rootle.errors import WebPageError
from rootle.web.html_process import markdown_of
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
# The charsets that pages have. Python knows stranger ones, some of which take for ever.
_CHARSET: Final = re.compile(
    r"utf-?8(?:-sig)?|utf-?16(?:le|be|-le|-be)?|iso[-_]?8859[-_]\d{1,2}|latin1|(?:us-)?ascii"
    r"|(?:windows|cp)-?\d{3,4}|koi8-[ru]|gb2312|gbk|gb18030|big5(?:-hkscs)?|euc-(?:jp|kr)"
    r"|shift[-_]jis|iso-2022-(?:jp|kr)|tis-620|macintosh"
)
# https://encoding.spec.whatwg.org: these names mean the larger charset on the web.
_MEANT: Final = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
}
_SNIFFED_BYTES: Final = 1_024
_META: Final = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
_LOOKS_LIKE_HTML: Final = re.compile(rb"\s*(?:<!--|<!doctype|<html|<head|<body)", re.IGNORECASE)
# What nobody sees and a model reads: controls, directions, zero widths, Unicode's "tags".
_UNSEEN: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_GAPS: Final = re.compile(r"\n{3,}")


def page_text(page: DownloadedPage) -> str:
    """The page as Markdown, or as the text that it is. Raises WebPageError for other things."""
    if _is_html(page):
        text = markdown_of(_decoded(page, is_html=True), page.url)
    elif page.media_type in _PLAIN or page.media_type.endswith("+json") or not page.media_type:
        text = _decoded(page, is_html=False)
    else:
        raise WebPageError(
            f"{page.url} is {page.media_type}, and rootle reads HTML, plain text, Markdown and JSON"
        )
    text = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return _GAPS.sub("\n\n", lines).strip("\n")


def _is_html(page: DownloadedPage) -> bool:
    if page.media_type:
        return page.media_type in _HTML
    if b"\0" in page.body[:_SNIFFED_BYTES]:
        raise WebPageError(f"{page.url} does not say what it is, and is no text")
    return _LOOKS_LIKE_HTML.match(page.body) is not None


def _decoded(page: DownloadedPage, *, is_html: bool) -> str:
    """By the mark at its beginning, by what the server says, by what the page says, by a try."""
    named = [name for mark, name in _BOMS if page.body.startswith(mark)]
    named.append(page.charset)
    if is_html:
        named += [found.decode("ascii") for found in _META.findall(page.body[:_SNIFFED_BYTES])]
    for name in named:
        name = name.strip().lower()
        if _CHARSET.fullmatch(name):
            with suppress(LookupError):
                return page.body.decode(_MEANT.get(name, name), "replace")
    try:
        # Not final: the last character of a page that was cut may be half there.
        return codecs.getincrementaldecoder("utf-8")().decode(page.body)
    except UnicodeDecodeError:
        return page.body.decode("cp1252", "replace")
