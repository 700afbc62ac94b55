"""Downloads a page over HTTP, from public addresses only and up to a size limit."""

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
from rootle.http.retry import is_retryable
from rootle.web.ssrf_guard import is_public
from rootle.web.url import PageUrl

MAX_BYTES: Final = 2_000_000
_MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_READ_BYTES: Final = 65_536
_ZLIB_OR_GZIP: Final = 47  # `wbits` of zlib: detect whether the header is that of zlib or gzip
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
    """The response of a server."""

    url: str  # the URL after redirects
    media_type: str  # in lower case; "" if the server did not send one
    charset: str
    body: bytes
    is_truncated: bool


class PageDownloader:
    """Downloads pages, each over new connections. Safe to use from several threads."""

    def __init__(
        self,
        *,
        timeout_s: float,
        max_bytes: int = MAX_BYTES,
        is_allowed: Callable[[str], bool] = is_public,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set the limits. `is_allowed` accepts or rejects the IP address of each server."""
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._is_allowed = is_allowed
        self._clock = clock

    def download(
        self, url: PageUrl, check: Callable[[PageUrl], None] = lambda _: None
    ) -> DownloadedPage:
        """Download a page within the timeout, and follow redirects.

        `check` receives the target of each redirect before it is requested, and may raise an error.
        Raise WebPageError if a retry would fail too, and UnavailableError for other failures.
        """
        deadline = self._clock() + self._timeout_s
        for _ in range(1 + _MAX_REDIRECTS):
            answer = self._request(url, deadline)
            if isinstance(answer, DownloadedPage):
                return answer
            url = url.resolve(answer)
            check(url)
        raise WebPageError(f"more than {_MAX_REDIRECTS} redirects, the last one to {url}")

    def _request(self, url: PageUrl, deadline: float) -> DownloadedPage | str:
        try:
            return self._send(url, deadline)
        except TimeoutError as error:
            raise UnavailableError(f"{url} did not answer within {self._timeout_s:g} s") from error
        except ForbiddenAddressError as error:
            raise WebPageError(
                f"{url} is at {error}, which is not on the public internet; rootle reads no "
                "private addresses"
            ) from error
        except (OSError, HTTPException, zlib.error) as error:
            reason = str(error) or type(error).__name__
            raise UnavailableError(f"{url} cannot be read: {reason}") from error

    def _send(self, url: PageUrl, deadline: float) -> DownloadedPage | str:
        """Return the page, or the location of a redirect."""
        connection = Connection(
            url.host,
            url.port,
            is_tls=url.scheme == "https",
            clock=self._clock,
            is_allowed=self._is_allowed,
        )
        connection.deadline = deadline
        try:
            connection.request("GET", url.target, headers=_HEADERS)
            response = connection.getresponse()
            location = response.headers.get("Location")
            if response.status in _REDIRECTS and location:
                return location
            return self._read_page(url, response)
        finally:
            connection.close()

    def _read_page(self, url: PageUrl, response: HTTPResponse) -> DownloadedPage:
        status = response.status
        if is_retryable(status):
            raise UnavailableError(f"{url} answered HTTP {status}; try later", status=status)
        if not 200 <= status < 300:
            raise WebPageError(f"{url} answered HTTP {status}")
        header = Message()
        header["Content-Type"] = response.headers.get("Content-Type", "")
        media_type = header.get_content_type() if header["Content-Type"].strip() else ""
        body = self._read_body(url, response)
        charset = header.get_param("charset", "")
        return DownloadedPage(
            str(url),
            media_type,
            charset if isinstance(charset, str) else "",
            body[: self._max_bytes],
            is_truncated=len(body) > self._max_bytes,
        )

    def _read_body(self, url: PageUrl, response: HTTPResponse) -> bytes:
        """Return the decompressed body, or the first `max_bytes` + 1 bytes of a longer one.

        The number of compressed bytes has the same limit.
        """
        decompress = _decompressor(url, response)
        body, received, limit = bytearray(), 0, self._max_bytes + 1
        while len(body) < limit and received < limit:
            block = response.read1(_READ_BYTES)
            if not block:
                if response.length:  # the number of bytes that did not arrive
                    raise IncompleteRead(bytes(body), response.length)
                return bytes(body)
            received += len(block)
            body += decompress(block, limit - len(body))
        return bytes(body)


def _decompressor(url: PageUrl, response: HTTPResponse) -> Callable[[bytes, int], bytes]:
    """Return a function that decompresses a block to at most a given number of bytes."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(_ZLIB_OR_GZIP).decompress
    if encoding in ("identity", ""):
        return lambda block, limit: block[:limit]
    raise WebPageError(f"{url} has the encoding {encoding}, which rootle did not request")
