"""Downloads pages of a site whose paths are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.errors import RootleError, WebPageError
from rootle.web.page_text import decode_page, is_html
from rootle.web.site.allowed_pages import Downloads, LeavesSiteError, SiteRules
from rootle.web.site.crawler import MAX_SECONDS
from rootle.web.site.links import forbids
from rootle.web.site.omissions import Omissions

_MAX_TOTAL_CHARS: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class NamedPage:
    """A page as HTML."""

    path: str
    url: str  # the URL after redirects
    html: str


@dataclass
class NamedPages:
    """Downloads pages of one site once. Afterwards, `omissions` contains the pages left out."""

    downloads: Downloads
    site: SiteRules
    max_pages: int
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    omissions: Omissions = field(default_factory=Omissions)

    def read(self, paths: Sequence[str]) -> Iterator[NamedPage]:
        """Yield the pages in the given order. Paths that lead out of the site are skipped."""
        deadline = self.clock() + MAX_SECONDS
        count, size = 0, 0
        for number, path in enumerate(paths):
            is_full = count >= self.max_pages or size > _MAX_TOTAL_CHARS
            if is_full or self.clock() + self.site.delay_s > deadline:
                self.omissions.beyond_limits = len(paths) - number
                return
            if self.omissions.is_silent:
                self.omissions.not_requested = len(paths) - number
                return
            try:
                page = self._download(path)
            except LeavesSiteError:
                continue
            except RootleError as error:
                self.omissions.add_failure(path, error)
                continue
            count += 1
            size += len(page.html)
            yield page

    def _download(self, path: str) -> NamedPage:
        url = self.site.make_url(path)
        self.site.check(url)
        self.sleep(self.site.delay_s)
        page = self.downloads.download(url, self.site.check)
        html = decode_page(page, is_html=True)
        if not is_html(page):
            raise WebPageError(f"{url} is not HTML")
        if forbids(html, "noindex"):
            raise LeavesSiteError
        self.omissions.add_page(page)
        return NamedPage(path, page.url, html)
