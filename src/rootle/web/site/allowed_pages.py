"""The part of a site that may be read: below the first page, and allowed by `robots.txt`."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from rootle.errors import UnavailableError, WebPageError
from rootle.web.page_download import DownloadedPage
from rootle.web.site.robots import FORBIDDEN, RobotsRules, parse_robots
from rootle.web.url import PageUrl, parse_page_url

# The minimum delay between two requests, because a small server answers requests one by one.
_MIN_DELAY_S: Final = 0.1
_LOG = logging.getLogger(__name__)


class Downloads(Protocol):
    """Downloads a page, as `PageDownloader` does."""

    def download(self, url: PageUrl, check: Callable[[PageUrl], None] = ...) -> DownloadedPage: ...


class LeavesSiteError(Exception):
    """Raised when a page is outside the part of a site that may be read."""


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The part of a site that is read: everything below the folder of the first page."""

    start: PageUrl
    robots: RobotsRules

    @property
    def folder(self) -> str:
        path = self.start.target.partition("?")[0]
        return path if path.endswith("/") else path.rpartition("/")[0] + "/"

    @property
    def delay_s(self) -> float:
        return max(_MIN_DELAY_S, self.robots.delay_s)

    def contains(self, link: PageUrl) -> bool:
        """Return whether a page may be read and is in the folder."""
        path = posixpath.normpath(link.target.partition("?")[0])
        return (
            parse_site(link) == parse_site(self.start)
            and f"{path.rstrip('/')}/".startswith(self.folder)
            and self.robots.allows(link.target)
        )

    def check(self, link: PageUrl) -> None:
        """Raise LeavesSiteError if a page may not be read or is not in the folder."""
        if not self.contains(link):
            raise LeavesSiteError

    def make_path(self, url: PageUrl) -> str:
        """Return the path of a page below the folder."""
        return url.target.removeprefix(self.folder).lstrip("/") or "index"

    def make_url(self, path: str) -> PageUrl:
        """Return the URL of a path relative to the folder. The URL may be outside of the folder.

        Raise WebPageError if it is invalid.
        """
        return self.start.resolve(self.folder).resolve(path)


def parse_site(url: PageUrl) -> tuple[str, str, int]:
    """Return the scheme, host and port of a URL, which identify its site."""
    return url.scheme, url.host, url.port


def open_site(downloads: Downloads, start: PageUrl) -> tuple[SiteRules, DownloadedPage]:
    """Return the rules of a site and its first page. A redirect may lead to another site.

    Raise WebPageError or UnavailableError if the page cannot be read.
    """
    rules: dict[tuple[str, str, int], RobotsRules] = {}

    def check(url: PageUrl) -> None:
        if parse_site(url) not in rules:
            rules[parse_site(url)] = _read_robots(downloads, url)
        if not rules[parse_site(url)].allows(url.target):
            raise WebPageError(f"{url} may not be read: the robots.txt of the site forbids it")

    check(start)
    page = downloads.download(start, check)
    final = parse_page_url(page.url)
    return SiteRules(final, rules[parse_site(final)]), page


def _read_robots(downloads: Downloads, page: PageUrl) -> RobotsRules:
    """Return the rules of a site.

    If the server answers with a temporary error, everything is forbidden.
    """
    url = PageUrl(page.scheme, page.host, page.port, "/robots.txt")
    try:
        return parse_robots(downloads.download(url).body)
    except UnavailableError as error:
        if not error.status:
            raise
        return FORBIDDEN
    except WebPageError as error:
        _LOG.info("no robots.txt: %s", error)
        return RobotsRules()
