"""The links of an HTML page, and what its author asks of crawlers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from html import unescape
from typing import Final
from urllib.parse import urldefrag, urljoin

from rootle.errors import WebPageError
from rootle.web.url import PageUrl, parse_page_url

_MAX_LINKS: Final = 5_000
_MAX_HTML_CHARS: Final = 2_000_000
# The parts are bounded, so that the time is proportional to the length of the page.
_ANCHOR: Final = re.compile(
    r"<a\s[^<>]{0,1000}?href\s{0,5}=\s{0,5}(?:\"([^\"]{1,2000})\"|'([^']{1,2000})'|([^\s\"'>]{1,2000}))",
    re.IGNORECASE,
)
_MARKDOWN_LINK: Final = re.compile(r"\]\(\s{0,5}<?([^()\s<>]{1,2000})>?\s{0,5}\)")
_ROBOTS: Final = re.compile(
    r"<meta\s[^<>]{0,300}?name\s{0,5}=\s{0,5}[\"']?(?:robots|rootle)\b[^<>]{0,300}>", re.IGNORECASE
)
_HEAD_CHARS: Final = 100_000


def list_html_links(html: str, base: PageUrl) -> list[PageUrl]:
    """Return the pages to which a page links, each once."""
    found = _ANCHOR.finditer(html[:_MAX_HTML_CHARS])
    return resolve_links((unescape(a[1] or a[2] or a[3]) for a in found), base)


def list_markdown_links(text: str, base: PageUrl) -> list[PageUrl]:
    """Return the pages to which a Markdown text links, each once."""
    found = _MARKDOWN_LINK.finditer(text[:_MAX_HTML_CHARS])
    return resolve_links((match[1] for match in found), base)


def resolve_links(links: Iterable[str], base: PageUrl) -> list[PageUrl]:
    """Return the URLs of links, without fragments and without other protocols."""
    pages: dict[PageUrl, None] = {}
    for link in links:
        with suppress(WebPageError, ValueError):
            pages[parse_page_url(urldefrag(urljoin(str(base), link.strip()))[0])] = None
        if len(pages) >= _MAX_LINKS:
            break
    return list(pages)


def forbids(html: str, rule: str) -> bool:
    """Return whether a page has the rule "noindex" or "nofollow" for crawlers."""
    tags = _ROBOTS.findall(html[:_HEAD_CHARS])
    return any(rule in tag.lower() or '"none"' in tag.lower() for tag in tags)
