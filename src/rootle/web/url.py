"""Parses and normalizes the URLs of pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from rootle.errors import WebPageError

_SHOWN_CHARS: Final = 200
# The maximum length of path and query. In Markdown, a relative link becomes a URL about as long as
# the URL of the page, so a page with a very long URL and many links could take gigabytes. Longer
# URLs are rare, and many servers refuse them.
_MAX_TARGET_CHARS: Final = 4_096
_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[a-z0-9._-]+")
_IPV6: Final = re.compile(r"[0-9a-f:.]+")
# Characters that are not percent-encoded. "%" is one of these characters, so existing escapes stay
# unchanged.
_SAFE: Final = "/%:@!$&'()*+,;=~?-._"


@dataclass(frozen=True, slots=True)
class PageUrl:
    """A normalized URL in ASCII."""

    scheme: str
    host: str
    port: int
    target: str  # path and query

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}"

    def resolve(self, location: str) -> PageUrl:
        """Return the target of a redirect from this page. Raise WebPageError if it is invalid."""
        try:
            return parse_page_url(urljoin(str(self), location))
        except ValueError as error:
            raise WebPageError(f"{self} redirects to an invalid URL") from error


def parse_page_url(text: str) -> PageUrl:
    """Return the URL in a text. Raise WebPageError unless it is a valid HTTP or HTTPS URL."""
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
    try:
        parts = urlsplit(text.strip())
        if parts.scheme not in _PORTS:
            raise WebPageError(f'"{shown}" is not a web page; write http://… or https://…')
        if "@" in parts.netloc:
            raise WebPageError("the URL contains a user or password; leave them out")
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
        url = PageUrl(parts.scheme, _normalize_host(parts), port, _encode_target(parts))
    except ValueError as error:
        raise WebPageError(f'"{shown}" is not a valid URL: {error}') from error
    if len(url.target) > _MAX_TARGET_CHARS:
        raise WebPageError(
            f'the path and query of "{shown}" are longer than {_MAX_TARGET_CHARS} characters'
        )
    return url


def _normalize_host(parts: SplitResult) -> str:
    """Return the host in lower-case ASCII. Raise ValueError if it is invalid or missing."""
    name = parts.hostname or ""
    if ":" in name and _IPV6.fullmatch(name):
        return name
    # IDNA also converts full-width digits. The result may be a number, which the operating system
    # interprets as an IP address.
    host = name.encode("idna").decode("ascii").lower()
    if not _HOST.fullmatch(host):
        raise ValueError("it has no host")
    return host


def _encode_target(parts: SplitResult) -> str:
    query = f"?{parts.query}" if parts.query else ""
    return quote(f"{parts.path or '/'}{query}", safe=_SAFE, errors="replace")
