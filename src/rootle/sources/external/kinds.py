"""The kinds of sources that a user can add from this machine, and how each is recognized."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Set
from itertools import islice
from typing import Final

from rootle.sources.external.readers.dash import INDEX as DASH_INDEX
from rootle.sources.external.readers.dash import read_dash
from rootle.sources.external.readers.devdocs import INDEX as DEVDOCS_INDEX
from rootle.sources.external.readers.devdocs import META as DEVDOCS_META
from rootle.sources.external.readers.devdocs import PAGES as DEVDOCS_PAGES
from rootle.sources.external.readers.devdocs import read_devdocs
from rootle.sources.external.readers.folder import read_folder
from rootle.sources.external.readers.llms_text import FULL, LIST, read_llms_text
from rootle.sources.external.readers.mdn import PAGE, read_mdn, split_front_matter
from rootle.sources.external.readers.sphinx import INVENTORY, list_inventory_pages, read_sphinx
from rootle.sources.external.readers.stack_exchange import POSTS, read_stack_exchange
from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import (
    CutFile,
    ExternalDocument,
    ExternalSourceError,
)
from rootle.sources.files.discovery import WalkRules

# A document; the path of a skipped document with the reason; or a file that was only partly read.
FoundDocument = ExternalDocument | tuple[str, str] | CutFile

SPHINX: Final = "sphinx"
# The kind of a site of which only the inventory was downloaded, not the pages. Its documents list
# the symbols of each page in the inventory.
INVENTORY_PAGES: Final = "sphinx-pages"
_READERS: Final[Mapping[str, Callable[[FolderTree, int], Iterable[FoundDocument]]]] = {
    "stack-exchange": read_stack_exchange,
    "devdocs": lambda tree, _: read_devdocs(tree),
    "dash": lambda tree, _: read_dash(tree),
    SPHINX: lambda tree, _: read_sphinx(tree),
    "mdn": lambda tree, _: read_mdn(tree),
    "llms.txt": lambda tree, _: read_llms_text(tree, FULL if tree.has(FULL) else LIST),
    "folder": lambda tree, _: read_folder(tree.root, WalkRules()),
}
LOCAL_KINDS: Final = tuple(_READERS)
# The kind of pages from `rootle add URL`.
WEB: Final = "web"
_MDN_PROBES: Final = 20


def read_kind(folder: str, kind: str, max_documents: int) -> Iterable[FoundDocument]:
    """Return the documents in a folder. Raise ExternalSourceError if they cannot be read."""
    if kind == INVENTORY_PAGES:
        return list_inventory_pages(FolderTree(folder))
    return _READERS[kind](FolderTree(folder), max_documents)


def recognize_folder(folder: str) -> tuple[str, str]:
    """Return the kind of a folder, and the subfolder that contains the documents.

    An archive often has a single top-level folder, which contains everything else.
    """
    for candidate in (folder, *_only_subfolder(folder)):
        kind = _recognize(FolderTree(candidate))
        if kind is not None:
            return kind, candidate
    return "folder", folder


def recognize_file(path: str) -> tuple[str, str] | None:
    """Return the kind and the folder of a source, given its main file; None for other files."""
    folder, name = os.path.split(path)
    kinds = {
        POSTS: "stack-exchange",
        INVENTORY: SPHINX,
        DEVDOCS_INDEX: "devdocs",
        LIST: "llms.txt",
        FULL: "llms.txt",
    }
    return (kinds[name], folder) if name in kinds else None


def check_kind(kind: str) -> None:
    """Raise ExternalSourceError if `kind` is not a kind of source on this machine."""
    if kind not in (*_READERS, INVENTORY_PAGES):
        raise ExternalSourceError(f'unknown kind "{kind}"; use one of {", ".join(LOCAL_KINDS)}')


def _only_subfolder(folder: str) -> list[str]:
    names = [name for name in os.listdir(folder) if not name.startswith(".")]
    inside = [os.path.join(folder, name) for name in names]
    return inside if len(inside) == 1 and os.path.isdir(inside[0]) else []


def _recognize(tree: FolderTree) -> str | None:
    if tree.has(DASH_INDEX):
        return "dash"
    if tree.has(POSTS):
        return "stack-exchange"
    if tree.has(INVENTORY):
        return SPHINX
    if tree.has(DEVDOCS_INDEX) and (tree.has(DEVDOCS_PAGES) or tree.has(DEVDOCS_META)):
        return "devdocs"
    if tree.has(FULL) or tree.has(LIST):
        return "llms.txt"
    return "mdn" if _is_mdn(tree) else None


def _is_mdn(tree: FolderTree) -> bool:
    """Return whether one of the first pages has the front matter of MDN."""
    pages = islice(tree.files((PAGE,)), _MDN_PROBES)
    return any({"title", "slug"} <= _read_fields(tree, path) for path in pages)


def _read_fields(tree: FolderTree, path: str) -> Set[str]:
    """Return the names of the front matter fields of a page; empty if it cannot be read."""
    try:
        return split_front_matter(tree.read_text(path))[0].keys()
    except ExternalSourceError:
        return frozenset()
