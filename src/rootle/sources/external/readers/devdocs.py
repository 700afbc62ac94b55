"""Documentation in the format of DevDocs: `index.json`, `meta.json`, and `db.json` or pages."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from rootle.sources.external.readers.symbol_pages import PageSymbol, read_page, read_page_file
from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import ExternalDocument, ExternalSourceError

INDEX: Final = "index.json"
PAGES: Final = "db.json"
META: Final = "meta.json"
_MAX_BYTES: Final = 150_000_000
_SITE: Final = "https://devdocs.io"


def read_devdocs(tree: FolderTree) -> Iterator[ExternalDocument | tuple[str, str]]:
    """Yield the pages, with a section for each entry of the index.

    The pages are either all in one file, or each in a separate file.
    """
    slug = _read_slug(tree)
    symbols: dict[str, list[PageSymbol]] = defaultdict(list)
    entries = _load(tree, INDEX).get("entries")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            page, _, anchor = str(entry.get("path", "")).partition("#")
            symbol = PageSymbol(str(entry.get("name", "")), str(entry.get("type", "")), anchor)
            symbols[page].append(symbol)
    pages = _load(tree, PAGES) if tree.has(PAGES) else dict.fromkeys(symbols)
    for path, html in sorted(pages.items()):
        address = f"{_SITE}/{slug}/{path}" if slug else ""
        if isinstance(html, str):
            yield read_page(path, html, symbols.get(path, []), address)
        elif (found := tree.find_page(path)) is not None:
            yield read_page_file(tree, found, path, symbols[path], address)


def _read_slug(tree: FolderTree) -> str:
    return str(_load(tree, META).get("slug", "")) if tree.has(META) else ""


def _load(tree: FolderTree, path: str) -> dict[str, Any]:
    try:
        data = json.loads(tree.read(path, _MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise ExternalSourceError(f"{path} is not valid JSON") from error
    if not isinstance(data, dict):
        raise ExternalSourceError(f"{path} is not a JSON object")
    return data
