"""Reads the pages of a site, within limits and the rules of its `robots.txt`."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from rootle.errors import RootleError, WebPageError
from rootle.web.page_download import DownloadedPage
from rootle.web.page_text import decode_page, extract_text
from rootle.web.site.allowed_pages import (
    Downloads,
    LeavesSiteError,
    SiteRules,
    open_site,
    parse_site,
)
from rootle.web.site.links import forbids, list_html_links, list_markdown_links
from rootle.web.site.omissions import Omissions
from rootle.web.site.sitemap import parse_sitemap
from rootle.web.url import PageUrl, parse_page_url

MAX_SITEMAPS: Final = 50
MAX_SECONDS: Final = 3_600.0
# The time limit for reading the sitemaps. If the delay between two requests is longer than this,
# the site is not searched for an inventory of its pages (objects.inv).
MAX_SEARCH_SECONDS: Final = 600.0
# The maximum number of requests, as a multiple of the maximum number of pages. The limit is
# necessary because a site can have any number of pages without new text, and these are not counted
# as pages.
_REQUESTS_PER_PAGE: Final = 3
_MAX_QUEUE: Final = 100_000
_HTML: Final = ("text/html", "application/xhtml+xml", "")


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """The limits for reading a site."""

    depth: int = 3  # the maximum number of links to follow from the first page or the sitemap
    max_pages: int = 200


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page as Markdown."""

    url: str
    path: str  # relative to the folder of the first page
    text: str


@dataclass
class SiteCrawler:
    """Reads one site once. Afterwards, `omissions` contains the pages that were left out."""

    downloads: Downloads
    limits: SiteLimits
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    omissions: Omissions = field(default_factory=Omissions)
    site: SiteRules | None = None  # set after the first page was read

    def crawl(self, start: PageUrl) -> Iterator[SitePage]:
        """Yield the first page and, from its folder, the pages that are linked or in the sitemap.

        Raise WebPageError or UnavailableError if the first page cannot be read.
        """
        deadline = self.clock() + MAX_SECONDS
        site, first = self._open_site(start)
        queue = deque([(link, 1) for link in self._first_links(site, first)])
        known = {start, site.start, *(link for link, _ in queue)}
        texts = {_digest(first.text)}
        count, requests = 1, 1
        max_requests = _REQUESTS_PER_PAGE * self.limits.max_pages
        yield SitePage(str(site.start), site.make_path(site.start), first.text)
        while queue:
            is_enough = count >= self.limits.max_pages or requests >= max_requests
            if is_enough or self.clock() + site.delay_s > deadline:
                self.omissions.beyond_limits = len(queue)
                return
            if self.omissions.is_silent:
                self.omissions.not_requested = len(queue)
                return
            url, depth = queue.popleft()
            self._wait(site)
            requests += 1
            try:
                final, page = self._read(url, site.check)
            except LeavesSiteError:
                continue
            except RootleError as error:
                self.omissions.add_failure(str(url), error)
                continue
            if final != url and final in known:
                continue
            known.add(final)
            if page.text.strip() and _digest(page.text) not in texts:
                texts.add(_digest(page.text))
                count += 1
                yield SitePage(str(final), site.make_path(final), page.text)
            if depth < self.limits.depth:
                new = [link for link in page.links if link not in known and site.contains(link)]
                known.update(new)
                queue.extend((link, depth + 1) for link in new[: _MAX_QUEUE - len(queue)])

    def rules(self) -> SiteRules:
        """Return the rules of the site, after its first page was read."""
        assert self.site is not None
        return self.site

    def _open_site(self, start: PageUrl) -> tuple[SiteRules, _ReadPage]:
        site, page = open_site(self.downloads, start)
        self.site = site
        self.omissions.add_page(page)
        return site, _read_page(page, site.start)

    def _first_links(self, site: SiteRules, page: _ReadPage) -> list[PageUrl]:
        if not self.limits.depth:
            return []
        links = dict.fromkeys([*page.links, *self._read_sitemaps(site)])
        links.pop(site.start, None)
        return [link for link in links if site.contains(link)][:_MAX_QUEUE]

    def _wait(self, site: SiteRules) -> None:
        self.sleep(site.delay_s)

    def _read(self, url: PageUrl, check: Callable[[PageUrl], None]) -> tuple[PageUrl, _ReadPage]:
        page = self.downloads.download(url, check)
        self.omissions.add_page(page)
        final = parse_page_url(page.url)
        return final, _read_page(page, final)

    def _read_sitemaps(self, site: SiteRules) -> list[PageUrl]:
        """Return the pages that the sitemaps of a site list."""
        start = site.start
        root = PageUrl(start.scheme, start.host, start.port, "/sitemap.xml")
        waiting = deque(site.robots.sitemaps or [str(root)])
        pages: dict[PageUrl, None] = {}
        known = set[PageUrl]()
        deadline = self.clock() + MAX_SEARCH_SECONDS
        for _ in range(MAX_SITEMAPS):
            is_late = self.clock() + site.delay_s > deadline
            if not waiting or len(pages) >= _MAX_QUEUE or is_late:
                break
            try:
                url = parse_page_url(waiting.popleft())
                if parse_site(url) != parse_site(start) or url in known:
                    continue
                known.add(url)
                self._wait(site)
                found = parse_sitemap(self.downloads.download(url).body)
            except RootleError:  # most sites have no sitemap
                continue
            waiting.extend(found.sitemaps[:MAX_SITEMAPS])
            for page in found.pages[:_MAX_QUEUE]:
                try:
                    pages[parse_page_url(page)] = None
                except WebPageError:
                    continue
        return list(pages)


@dataclass(frozen=True, slots=True)
class _ReadPage:
    text: str
    links: tuple[PageUrl, ...]


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _read_page(page: DownloadedPage, url: PageUrl) -> _ReadPage:
    """Return the text of a page, and its links.

    If the page forbids indexing or following links, the text or the links are empty.
    """
    if page.media_type in _HTML:
        html = decode_page(page, is_html=True)
        links = [] if forbids(html, "nofollow") else list_html_links(html, url)
        text = "" if forbids(html, "noindex") else extract_text(page)
        return _ReadPage(text, tuple(links))
    text = extract_text(page)
    is_data = page.media_type.endswith("json")
    return _ReadPage(text, () if is_data else tuple(list_markdown_links(text, url)))
