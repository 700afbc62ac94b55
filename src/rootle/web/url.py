"""The address of a page, in the one form that is asked for and kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from rootle.errors import WebPageError

_SHOWN_CHARS: Final = 200
_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"[a-z0-9._-]+")
_V6: Final = re.compile(r"[0-9a-f:.]+")
# What HTTP carries as it is; the rest is escaped, and what is escaped already stays.
_KEPT: Final = "/%:@!$&'()*+,;=~?-._"


@dataclass(frozen=True, slots=True)
class PageUrl:
    """Where a page is: all of it ASCII."""

    scheme: str
    host: str
    port: int
    place: str  # path and query

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.place}"

    def leads_to(self, location: str) -> PageUrl:
        """Where a redirect from here goes. Raises WebPageError."""
        try:
            return parse_page_url(urljoin(str(self), location))
        except ValueError as error:
            raise WebPageError(f"{self} leads to something that is no address") from error


def parse_page_url(text: str) -> PageUrl:
    """The address that a text is. Raises WebPageError for what is none of a page."""
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
    try:
        parts = urlsplit(text.strip())
        if parts.scheme not in _PORTS:
            raise WebPageError(f'"{shown}" is no page of the web; write http://… or https://…')
        if "@" in parts.netloc:
            raise WebPageError("the address has a user or password in it; leave them out")
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
        return PageUrl(parts.scheme, _host(parts), port, _place(parts))
    except ValueError as error:
        raise WebPageError(f'"{shown}" is no address: {error}') from error


def _host(parts: SplitResult) -> str:
    """In ASCII and small letters. Raises ValueError."""
    name = parts.hostname or ""
    if ":" in name and _V6.fullmatch(name):
        return name
    # Full-width digits become plain ones here, too; what a number means, the system says later.
    host = name.encode("idna").decode("ascii").lower()
    if not _NAME.fullmatch(host):
        raise ValueError("there is no host in it")
    return host


def _place(parts: SplitResult) -> str:
    query = f"?{parts.query}" if parts.query else ""
    return quote(f"{parts.path or '/'}{query}", safe=_KEPT, errors="replace")
