"""The links of a page, and the rules for crawlers in an HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from html import unescape
from itertools import chain
from typing import Final
from urllib.parse import urldefrag, urljoin

from rootle.errors import WebPageError
from rootle.web.url import PageUrl, parse_page_url

_MAX_LINKS: Final = 5_000
_MAX_HTML_CHARS: Final = 2_000_000
# The lengths in this pattern are bounded, so that the time is proportional to the page length.
_ANCHOR: Final = re.compile(
    r"<a\s[^<>]{0,1000}?href\s{0,5}=\s{0,5}(?:\"([^\"]{1,2000})\"|'([^']{1,2000})'|([^\s\"'>]{1,2000}))",
    re.IGNORECASE,
)
_MARKDOWN_LINK: Final = re.compile(r"\]\(\s{0,5}<?([^()\s<>]{1,2000})>?\s{0,5}\)")
_ROBOTS: Final = re.compile(
    r"<meta\s[^<>]{0,300}?name\s{0,5}=\s{0,5}[\"']?(?:robots|rootle)\b[^<>]{0,300}>", re.IGNORECASE
)
_CONTENT: Final = re.compile(
    r"\bcontent\s{0,5}=\s{0,5}(?:\"([^\"]{0,300})\"|'([^']{0,300})'|([^\s\"'>]{1,300}))",
    re.IGNORECASE,
)
_BASE: Final = re.compile(
    r"<base\s[^<>]{0,1000}?href\s{0,5}=\s{0,5}(?:\"([^\"]{1,2000})\"|'([^']{1,2000})'|([^\s\"'>]{1,2000}))",
    re.IGNORECASE,
)
_DIRECTIVES: Final = re.compile(r"[,;]")
_HEAD_CHARS: Final = 100_000


def list_html_links(html: str, base: PageUrl) -> list[PageUrl]:
    """Return the pages to which a page at the URL `base` links, each once."""
    found = _ANCHOR.finditer(html[:_MAX_HTML_CHARS])
    links = (unescape(a[1] or a[2] or a[3]) for a in found)
    return resolve_links(links, _declared_base(html, base))


def list_markdown_links(text: str, base: PageUrl) -> list[PageUrl]:
    """Return the pages to which a Markdown text links, each once."""
    found = _MARKDOWN_LINK.finditer(text[:_MAX_HTML_CHARS])
    return resolve_links((match[1] for match in found), base)


def resolve_links(links: Iterable[str], base: PageUrl) -> list[PageUrl]:
    """Return the URLs of links, without fragments. Links with other protocols are left out."""
    pages: dict[PageUrl, None] = {}
    for link in links:
        with suppress(WebPageError, ValueError):
            pages[parse_page_url(urldefrag(urljoin(str(base), link.strip()))[0])] = None
        if len(pages) >= _MAX_LINKS:
            break
    return list(pages)


def forbids(html: str, rule: str) -> bool:
    """Return whether a page has the rule "noindex" or "nofollow" for crawlers.

    The value "none" means both rules, but "max-image-preview: none" means neither.
    """
    for tag in _ROBOTS.findall(html[:_HEAD_CHARS]):
        content = _CONTENT.search(tag.lower())
        text = (content[1] or content[2] or content[3] or "") if content else ""
        rules = (one.split() for one in _DIRECTIVES.split(text) if ":" not in one)
        if not {rule, "none"}.isdisjoint(chain.from_iterable(rules)):
            return True
    return False


def _declared_base(html: str, url: PageUrl) -> PageUrl:
    """Return the base URL of the links of a page: the URL in <base>, or that of the page."""
    match = _BASE.search(_remove_comments(html[:_HEAD_CHARS]))
    if match is not None:
        with suppress(WebPageError):
            return url.resolve(unescape(match[1] or match[2] or match[3]).strip())
    return url


def _remove_comments(html: str) -> str:
    """Return HTML without comments; they often contain tags for old browsers."""
    first, *parts = html.split("<!--")
    return "".join([first, *(part.partition("-->")[2] for part in parts)])
