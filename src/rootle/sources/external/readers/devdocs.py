"""Documentation in the format of DevDocs: `index.json`, `db.json` and `meta.json`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from rootle.sources.external.readers.symbol_pages import PageSymbol, read_page
from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import ExternalDocument, ExternalSourceError

INDEX: Final = "index.json"
PAGES: Final = "db.json"
_META: Final = "meta.json"
_MAX_BYTES: Final = 150_000_000
_SITE: Final = "https://devdocs.io"


def read_devdocs(tree: FolderTree) -> Iterator[ExternalDocument]:
    """Yield the pages, with a section for each entry of the index."""
    slug = _read_slug(tree)
    symbols: dict[str, list[PageSymbol]] = defaultdict(list)
    entries = _load(tree, INDEX).get("entries")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            page, _, anchor = str(entry.get("path", "")).partition("#")
            symbol = PageSymbol(str(entry.get("name", "")), str(entry.get("type", "")), anchor)
            symbols[page].append(symbol)
    for path, html in sorted(_load(tree, PAGES).items()):
        if isinstance(html, str):
            address = f"{_SITE}/{slug}/{path}" if slug else ""
            yield read_page(path, html, symbols.get(path, []), address)


def _read_slug(tree: FolderTree) -> str:
    return str(_load(tree, _META).get("slug", "")) if tree.has(_META) else ""


def _load(tree: FolderTree, path: str) -> dict[str, Any]:
    try:
        data = json.loads(tree.read(path, _MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise ExternalSourceError(f"{path} is not valid JSON") from error
    if not isinstance(data, dict):
        raise ExternalSourceError(f"{path} is not a JSON object")
    return data
