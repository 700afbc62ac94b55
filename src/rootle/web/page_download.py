"""One page over HTTP: from public addresses alone, and no more of it than was agreed."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Final

from rootle.errors import UnavailableError, WebPageError
from rootle.http.connection import Connection, ForbiddenAddressError
from rootle.web.ssrf_guard import is_public
from rootle.web.url import PageUrl

MAX_BYTES: Final = 2_000_000
_MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PASSING: Final = frozenset({408, 425, 429})
_BLOCK: Final = 65_536
_ZLIB_OR_GZIP: Final = 47  # zlib's number for "find out which"
_HEADERS: Final = {
    "Accept": "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,"
    "*/*;q=0.1",
    "Accept-Encoding": "gzip",
    "Accept-Language": "en,*;q=0.5",
    "User-Agent": "Mozilla/5.0 (compatible; rootle)",
    "Connection": "close",
}


@dataclass(frozen=True, slots=True)
class DownloadedPage:
    """What a server gave."""

    url: str  # where the redirects ended
    media_type: str  # in small letters; "" where it did not say
    charset: str
    body: bytes
    is_cut: bool


class PageDownloader:
    """Gets pages, each over connections of its own. Safe to use from several threads."""

    def __init__(
        self,
        *,
        timeout_s: float,
        max_bytes: int = MAX_BYTES,
        allows: Callable[[str], bool] = is_public,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`allows` says of a numeric address whether it may be connected to."""
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._allows = allows
        self._clock = clock

    def fetch(self, address: PageUrl) -> DownloadedPage:
        """The page, redirects followed, all of it within the timeout.

        Raises WebPageError where asking again is no use, UnavailableError where it may be.
        """
        deadline = self._clock() + self._timeout_s
        for _ in range(1 + _MAX_REDIRECTS):
            got = self._guarded(address, deadline)
            if isinstance(got, DownloadedPage):
                return got
            address = address.leads_to(got)
        raise WebPageError(f"more than {_MAX_REDIRECTS} redirects, the last one to {address}")

    def _guarded(self, address: PageUrl, deadline: float) -> DownloadedPage | str:
        try:
            return self._asked(address, deadline)
        except TimeoutError as error:
            raise UnavailableError(
                f"{address} did not come within {self._timeout_s:g} s"
            ) from error
        except ForbiddenAddressError as error:
            raise WebPageError(
                f"{address} is at {error}, which is not on the public internet; rootle reads no "
                "private addresses"
            ) from error
        except (OSError, HTTPException, zlib.error) as error:
            why = str(error) or type(error).__name__
            raise UnavailableError(f"{address} cannot be read: {why}") from error

    def _asked(self, address: PageUrl, deadline: float) -> DownloadedPage | str:
        """The page, or where it has gone."""
        connection = Connection(
            address.host,
            address.port,
            is_tls=address.scheme == "https",
            clock=self._clock,
            allows=self._allows,
        )
        connection.deadline = deadline
        try:
            connection.request("GET", address.place, headers=_HEADERS)
            response = connection.getresponse()
            location = response.headers.get("Location")
            if response.status in _REDIRECTS and location:
                return location
            return self._page(address, response)
        finally:
            connection.close()

    def _page(self, address: PageUrl, response: HTTPResponse) -> DownloadedPage:
        status = response.status
        if status >= 500 or status in _PASSING:
            raise UnavailableError(f"{address} answered HTTP {status}; try later", status=status)
        if not 200 <= status < 300:
            raise WebPageError(f"{address} answered HTTP {status}")
        kind = Message()
        kind["Content-Type"] = response.headers.get("Content-Type", "")
        media_type = kind.get_content_type() if kind["Content-Type"].strip() else ""
        body = self._body(address, response)
        is_cut = len(body) > self._max_bytes
        charset = kind.get_param("charset", "")
        return DownloadedPage(
            str(address),
            media_type,
            charset if isinstance(charset, str) else "",
            body[: self._max_bytes],
            is_cut,
        )

    def _body(self, address: PageUrl, response: HTTPResponse) -> bytes:
        """Unpacked; a byte more than the limit where it is longer, however small it was packed."""
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            unpack: Callable[[bytes, int], bytes] = zlib.decompressobj(_ZLIB_OR_GZIP).decompress
        elif coding in ("identity", ""):
            unpack = _as_it_is
        else:
            raise WebPageError(f"{address} is packed as {coding}, which rootle did not ask for")
        body, received, wanted = bytearray(), 0, self._max_bytes + 1
        while len(body) < wanted and received < wanted:
            block = response.read1(_BLOCK)
            if not block:
                if response.length:  # what was still to come
                    raise IncompleteRead(bytes(body), response.length)
                return bytes(body)
            received += len(block)
            body += unpack(block, wanted - len(body))
        return bytes(body)


def _as_it_is(block: bytes, limit: int) -> bytes:
    return block[:limit]
