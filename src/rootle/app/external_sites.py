"""Read the documents of a web site that a user adds."""

from __future__ import annotations

import os
import posixpath
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from rootle.errors import RootleError, WebPageError
from rootle.sources.external.child_process import UNPACKED_PREFIX, ReadNote, read_local_source
from rootle.sources.external.kinds import INVENTORY_PAGES, SPHINX
from rootle.sources.external.readers.sphinx import INVENTORY
from rootle.sources.external.records import ExternalDocument, ExternalSourceError
from rootle.sources.external.store import SourceRecord
from rootle.web.page_download import DownloadedPage
from rootle.web.page_text import remove_invisible
from rootle.web.site.allowed_pages import Downloads, LeavesSiteError, SiteRules, open_site
from rootle.web.site.crawler import MAX_SEARCH_SECONDS, SiteCrawler, SiteLimits
from rootle.web.site.named_pages import NamedPage, NamedPages
from rootle.web.url import parse_page_url

_CUT_INVENTORY: Final = f"{INVENTORY} is too long, and only the pages at its beginning were read"
_MAGIC: Final = b"# Sphinx inventory version "
_HTML: Final = (".html", ".htm", ".xhtml")


@dataclass(frozen=True)
class SiteReader:
    """Reads the pages of a site, or the pages that its Sphinx inventory lists."""

    downloads: Downloads
    sleep: Callable[[float], None]
    max_documents: int
    work_dir: str  # the folder for temporary files
    on_page: Callable[[int], None]  # receives the number of downloaded pages

    def read(self, record: SourceRecord) -> Iterator[ExternalDocument | ReadNote]:
        """Yield the documents of a site, and notes.

        Raise WebPageError or UnavailableError if the first page cannot be read, and
        ExternalSourceError if the record names an inventory that is damaged.
        """
        limits = SiteLimits(record.options["depth"], record.options["max_pages"])
        start = parse_page_url(record.address)
        if start.target.partition("?")[0].endswith(f"/{INVENTORY}"):
            site, page = open_site(self.downloads, start)
            if not page.body.startswith(_MAGIC):
                raise WebPageError(f"{start} is not an inventory of Sphinx")
            yield from self._read_inventory(site, page, limits)
            return
        crawler = SiteCrawler(self.downloads, limits, self.sleep)
        pages = crawler.crawl(start)
        first = next(pages)
        site = crawler.rules()
        inventory = self._find_inventory(site) if limits.depth else None
        if inventory is not None:
            yield from self._read_inventory(site, inventory, limits)
            return
        for found in chain([first], pages):
            title = found.text.partition("\n")[0].lstrip("# ")
            yield ExternalDocument(found.path, found.text, title, address=found.url)
        yield ReadNote(failure=crawler.omissions.describe_silence())
        yield ReadNote(left_out=crawler.omissions.describe())

    def _find_inventory(self, site: SiteRules) -> DownloadedPage | None:
        """Return the inventory next to the first page of a site; None if there is no usable one.

        An inventory that is damaged or lists only symbols is unusable: most pages would not be
        read.
        """
        if site.delay_s > MAX_SEARCH_SECONDS:
            return None
        with suppress(RootleError, LeavesSiteError, ExternalSourceError):
            url = site.make_url(INVENTORY)
            site.check(url)
            self.sleep(site.delay_s)
            page = self.downloads.download(url, site.check)
            if page.body.startswith(_MAGIC) and self._list_pages(page.body)[1]:
                return page
        return None

    def _read_inventory(
        self, site: SiteRules, inventory: DownloadedPage, limits: SiteLimits
    ) -> Iterator[ExternalDocument | ReadNote]:
        """Download the pages that an inventory lists, and read them like an added folder."""
        paths, _ = self._list_pages(inventory.body)
        pages = NamedPages(self.downloads, site, limits.max_pages, self.sleep)
        omissions = pages.omissions
        with self._open_folder(inventory.body) as folder:
            addresses: dict[str, str] = {}
            for page in pages.read(paths):
                if _write_page(folder, page):
                    addresses[page.path] = page.url
                    self.on_page(len(addresses))
            for item in self._read_folder(folder, SPHINX):
                if isinstance(item, ReadNote):
                    if not (item.cut == INVENTORY and inventory.is_truncated):  # reported below
                        yield item
                    continue
                is_unread = omissions.is_silent or item.path in omissions.failed
                # For a page that could not be read, the item is only a list of symbols from the
                # inventory, which must not replace the text that was read earlier.
                if item.path in addresses or not is_unread:
                    yield _clean(item, addresses.get(item.path, ""))
        yield ReadNote(failure=omissions.describe_silence())
        cut = _CUT_INVENTORY if inventory.is_truncated else ""
        yield ReadNote(left_out="; ".join(filter(None, (cut, omissions.describe()))))

    def _list_pages(self, inventory: bytes) -> tuple[Sequence[str], bool]:
        """Return the pages of an inventory, and whether it lists documents besides symbols."""
        with self._open_folder(inventory) as folder:
            found = list(self._read_folder(folder, INVENTORY_PAGES))
        for note in found:
            if isinstance(note, ReadNote) and note.failure:
                raise ExternalSourceError(note.failure)
        pages = [item for item in found if isinstance(item, ExternalDocument)]
        return [page.path for page in pages], any(page.title for page in pages)

    def _open_folder(self, inventory: bytes) -> tempfile.TemporaryDirectory[str]:
        folder = tempfile.TemporaryDirectory(prefix=UNPACKED_PREFIX, dir=self.work_dir)
        Path(folder.name, INVENTORY).write_bytes(inventory)
        return folder

    def _read_folder(self, folder: str, kind: str) -> Iterator[ExternalDocument | ReadNote]:
        return read_local_source(folder, kind, self.max_documents, self.work_dir)


def _write_page(folder: str, page: NamedPage) -> bool:
    """Write a page to the path where the folder reader looks for it; return False on failure."""
    path = posixpath.normpath(unquote(page.path)).lstrip("/")
    if path.startswith("..") or "\0" in path:
        return False
    if not path.lower().endswith(_HTML):
        path = f"{path}/index.html"
    target = os.path.join(folder, *path.split("/"))
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).write_text(page.html, encoding="utf-8", errors="replace")
    except OSError:  # a name is too long, or a page has the name of a folder
        return False
    return True


def _clean(document: ExternalDocument, address: str) -> ExternalDocument:
    text, title = remove_invisible(document.text), remove_invisible(document.title)
    return replace(document, text=text, title=title, address=address)
