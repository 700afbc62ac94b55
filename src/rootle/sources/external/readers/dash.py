"""Docsets of Dash and Zeal: an SQLite index and HTML pages."""

from __future__ import annotations

import os
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from rootle.sources.external.readers.symbol_pages import PageSymbol, is_generated, read_page_file
from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import CutFile, ExternalDocument, ExternalSourceError

INDEX: Final = "Contents/Resources/docSet.dsidx"
_DOCUMENTS: Final = "Contents/Resources/Documents"
_MAX_ENTRIES: Final = 500_000
_MAX_VALUE_BYTES: Final = 10_000_000
# A query is aborted after _MAX_CHECKS checks. SQLite makes one check per this many steps of its
# virtual machine. Without this limit, a view in a malicious index could run forever.
_STEPS_PER_CHECK: Final = 1_000_000
_MAX_CHECKS: Final = 200
_TAGS: Final = re.compile(r"<[^<>]{0,500}>")
# Queries for the two forms of the index: the usual one, and that of docsets created by Xcode.
_QUERIES: Final = (
    "SELECT name, type, path FROM searchIndex LIMIT ?",
    "SELECT ZTOKENNAME, ZTYPENAME, ZPATH || '#' || COALESCE(ZANCHOR, '') FROM ZTOKEN "
    "JOIN ZTOKENMETAINFORMATION ON ZTOKENMETAINFORMATION.ZTOKEN = ZTOKEN.Z_PK "
    "JOIN ZFILEPATH ON ZTOKENMETAINFORMATION.ZFILE = ZFILEPATH.Z_PK "
    "JOIN ZTOKENTYPE ON ZTOKEN.ZTOKENTYPE = ZTOKENTYPE.Z_PK LIMIT ?",
)


def read_dash(tree: FolderTree) -> Iterator[ExternalDocument | tuple[str, str] | CutFile]:
    """Yield the pages that the index names, with a section for each entry."""
    symbols: dict[str, list[PageSymbol]] = defaultdict(list)
    entries = _read_index(tree)
    if len(entries) >= _MAX_ENTRIES:
        yield CutFile(INDEX)
    for name, kind, place in entries:
        page, _, anchor = _TAGS.sub("", place).partition("#")
        symbols[unquote(page)].append(PageSymbol(name, kind, unquote(anchor)))
    documents = FolderTree(os.path.join(tree.root, *_DOCUMENTS.split("/")))
    for path in sorted(symbols):
        found = documents.find_page(path)
        if found is not None and not is_generated(path, symbols[path]):
            yield read_page_file(documents, found, path, symbols[path])


def _read_index(tree: FolderTree) -> list[tuple[str, str, str]]:
    path = os.path.join(os.path.realpath(tree.root), *INDEX.split("/"))
    if os.path.realpath(path) != path or not os.path.isfile(path):
        raise ExternalSourceError(f"{INDEX} is not a regular file")
    checks = 0

    def is_too_long() -> bool:
        nonlocal checks
        checks += 1
        return checks > _MAX_CHECKS

    uri = f"{Path(path).as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.set_progress_handler(is_too_long, _STEPS_PER_CHECK)
            tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master")}
            query = _QUERIES[0] if "searchIndex" in tables else _QUERIES[1]
            rows = connection.execute(query, (_MAX_ENTRIES,)).fetchall()
    except sqlite3.Error as error:
        raise ExternalSourceError(f"{INDEX} cannot be read: {error}") from error
    return [(str(name), str(kind), str(place)) for name, kind, place in rows]
