"""Pages of documentation with the places of the symbols that an inventory lists."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.sources.external.readers.html_to_markdown import FENCE, MarkdownPage
from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import (
    MAX_SECTIONS,
    ExternalDocument,
    ExternalSourceError,
)
from rootle.types import DocumentSection

_TOP = ""
# Pages that Sphinx generates. They only list the content of other pages.
_GENERATED: Final = frozenset({"genindex", "modindex", "py-modindex", "search"})
_LABEL_KINDS: Final = frozenset({"std:label", "Section"})
# The last part of a qualified name, such as "module.Class.method" or "Class::method".
_QUALIFIED: Final = re.compile(r"\w[\w.:]*(?:\.|::)(?P<last>[^\W\d]\w*)")
# A line that defines a symbol: a term, or a heading that consists of a name and its parameters.
_DEFINITION: Final = re.compile(r"`|\*\*|#{1,6} [\w.:]{1,200}(?:\(.*)?$")


@dataclass(frozen=True, slots=True)
class PageSymbol:
    """A symbol that is documented on a page."""

    name: str
    kind: str  # such as "py:function"; "" if unknown
    anchor: str  # an id in the page; "" for the whole page


def read_page(
    path: str, html: str, symbols: Sequence[PageSymbol], address: str = ""
) -> ExternalDocument:
    """Return a page in which each symbol with an anchor has a section, labeled by its name."""
    page = MarkdownPage(html, {symbol.anchor for symbol in symbols if symbol.anchor})
    found: dict[int, PageSymbol] = {}
    for symbol in symbols[:MAX_SECTIONS]:
        line = page.anchors.get(symbol.anchor)
        if line is not None:
            found.setdefault(line, symbol)
    whole = next((symbol.name for symbol in symbols if not symbol.anchor), _TOP)
    sections = _make_sections(sorted(found.items()), page.text.split("\n")[:-1])
    text = _qualify(page.text, found)
    return ExternalDocument(
        path, text, page.title or whole, address=address, sections=tuple(sections)
    )


def is_generated(path: str, symbols: Iterable[PageSymbol]) -> bool:
    """Return whether a page is an index or a search form that Sphinx generated."""
    name = path.rstrip("/").rpartition("/")[2].removesuffix(".html")
    return name in _GENERATED and all(symbol.kind in _LABEL_KINDS for symbol in symbols)


def read_page_file(
    tree: FolderTree, file: str, path: str, symbols: Sequence[PageSymbol], address: str = ""
) -> ExternalDocument | tuple[str, str]:
    """Return a page of a folder, or its path and the reason why it cannot be read."""
    try:
        return read_page(path, tree.read_text(file), symbols, address)
    except ExternalSourceError as error:
        return path, str(error)


def list_symbols(path: str, symbols: Iterable[PageSymbol], address: str = "") -> ExternalDocument:
    """Return a document that lists symbols of a page whose text is not available."""
    lines = [f"# {path}", ""]
    lines += [
        f"- `{symbol.name}` ({symbol.kind}): {path}{'#' if symbol.anchor else ''}{symbol.anchor}"
        for symbol in symbols
    ]
    return ExternalDocument(path, "\n".join(lines) + "\n", path, address=address)


def _qualify(text: str, found: Mapping[int, PageSymbol]) -> str:
    """Return a page in which the definition of each symbol has its qualified name.

    A page about a class often names its methods without the class. Without the qualified name, a
    search for "Class.method" would not find the page.
    """
    lines = text.split("\n")
    for number, symbol in found.items():
        name, line = _QUALIFIED.fullmatch(symbol.name), lines[number - 1]
        if name is not None and _DEFINITION.match(line) and symbol.name not in line:
            short = re.compile(rf"(?<![\w.:])(?:\w+(?:\.|::))*{name['last']}(?!\w)")
            match = short.search(line)
            if match is not None and symbol.name.endswith(match[0]):
                lines[number - 1] = f"{line[: match.start()]}{symbol.name}{line[match.end() :]}"
    return "\n".join(lines)


def _make_sections(
    found: Sequence[tuple[int, PageSymbol]], lines: Sequence[str]
) -> Iterable[DocumentSection]:
    """Yield the sections; each ends before the next one, or before a heading."""
    headings = list(_list_headings(lines))
    ends = [*(line - 1 for line, _ in found[1:]), len(lines)][: len(found)]
    seen: set[str] = set()
    for (line, symbol), last in zip(found, ends, strict=True):
        end = last
        at = bisect_right(headings, line)
        if at < len(headings):
            end = min(end, headings[at] - 1)
        if end >= line and symbol.name not in seen:
            seen.add(symbol.name)
            yield DocumentSection(symbol.name, line, end, f"{symbol.kind} {symbol.name}".strip())


def _list_headings(lines: Sequence[str]) -> Iterable[int]:
    """Yield the numbers of the lines that are headings, from 1. Lines of code do not count."""
    in_code = False
    for number, line in enumerate(lines, start=1):
        if line == FENCE:
            in_code = not in_code
        elif line.startswith("#") and not in_code:
            yield number
