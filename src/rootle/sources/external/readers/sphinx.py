"""Documentation that Sphinx built: the inventory `objects.inv` and its pages."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from rootle.sources.external.readers.symbol_pages import (
    PageSymbol,
    is_generated,
    list_symbols,
    read_page_file,
)
from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import CutFile, ExternalDocument, ExternalSourceError

INVENTORY: Final = "objects.inv"
_MAX_INVENTORY_BYTES: Final = 100_000_000
_LINE: Final = re.compile(
    r"(\S+(?:\s+\S+)*?)\s+(?=\S+?:\S)(\S+)\s+(-?\d+)\s+(?:(\S+)\s+|(?<=\s\s))\S.*"
)
_MAX_LINE_CHARS: Final = 1_000
_PAGE_KINDS: Final = frozenset({"std:doc"})
_WITHOUT_SECTION: Final = frozenset({"std:label", "std:doc"})


def read_sphinx(tree: FolderTree) -> Iterator[ExternalDocument | tuple[str, str] | CutFile]:
    """Yield the pages that an inventory names, or lists of their symbols if pages are missing.

    If the inventory is truncated or too long, its first entries are read, and a CutFile is yielded.
    """
    pages, is_whole = _list_entries(tree)
    if not is_whole:
        yield CutFile(INVENTORY)
    for path in sorted(pages):
        found = tree.find_page(path)
        symbols = [one for one in pages[path] if one.kind not in _WITHOUT_SECTION]
        whole = [one for one in pages[path] if one.kind in _PAGE_KINDS]
        if found is not None:
            yield read_page_file(tree, found, path, [*symbols, *whole])
        elif symbols:
            yield list_symbols(path, symbols)


def list_inventory_pages(tree: FolderTree) -> Iterator[ExternalDocument]:
    """Yield a document for each page of an inventory; pages with the most symbols come first.

    The document has the path of the page, and its title if the inventory names the page itself.
    """
    pages, _ = _list_entries(tree)
    for path in sorted(pages, key=lambda path: -len(pages[path])):
        title = next((one.name for one in pages[path] if one.kind in _PAGE_KINDS), "")
        yield ExternalDocument(path, f"{len(pages[path])} symbols", title)


def _list_entries(tree: FolderTree) -> tuple[dict[str, list[PageSymbol]], bool]:
    """Return the entries of each page, and whether all entries of the inventory were read."""
    entries, is_whole = read_inventory(tree.read(INVENTORY))
    pages: dict[str, list[PageSymbol]] = defaultdict(list)
    for page, symbol in entries:
        pages[page].append(symbol)
    kept = {path: symbols for path, symbols in pages.items() if not is_generated(path, symbols)}
    return kept, is_whole


def read_inventory(content: bytes) -> tuple[Iterator[tuple[str, PageSymbol]], bool]:
    """Return the page and the symbol of each entry, and whether the inventory is complete.

    Raises ExternalSourceError if it is damaged.
    """
    if content.startswith(b"# Sphinx inventory version 1"):
        return _read_version_1(content), True
    if not content.startswith(b"# Sphinx inventory version 2"):
        raise ExternalSourceError(f"{INVENTORY} has an unknown format")
    start = 0
    for _ in range(4):
        start = content.find(b"\n", start) + 1
        if not start:
            raise ExternalSourceError(f"{INVENTORY} is damaged")
    try:
        stream = zlib.decompressobj()
        text = stream.decompress(content[start:], _MAX_INVENTORY_BYTES)
    except zlib.error as error:
        raise ExternalSourceError(f"{INVENTORY} is damaged: {error}") from error
    return _read_version_2(text), stream.eof


def _read_version_2(text: bytes) -> Iterator[tuple[str, PageSymbol]]:
    for line in text.decode("utf-8", "replace").split("\n"):
        match = _LINE.fullmatch(line[:_MAX_LINE_CHARS])
        if match is not None:
            name, kind, place = match[1], match[2], match[4] or ""
            place = f"{place[:-1]}{name}" if place.endswith("$") else place
            page, _, anchor = place.partition("#")
            yield page, PageSymbol(name, kind, anchor)


def _read_version_1(content: bytes) -> Iterator[tuple[str, PageSymbol]]:
    for line in content.decode("utf-8", "replace").split("\n")[3:]:
        parts = line.split(None, 2)
        if len(parts) == 3:
            name, kind, page = parts
            is_module = kind == "mod"
            anchor = f"module-{name}" if is_module else name
            yield page.strip(), PageSymbol(name, f"py:{'module' if is_module else kind}", anchor)
