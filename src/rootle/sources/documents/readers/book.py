"""Read EPUB books: the chapters in reading order, one place per heading."""

from __future__ import annotations

import posixpath
from typing import BinaryIO, Final
from urllib.parse import unquote

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.book_and_mail_html import read_html
from rootle.sources.documents.readers.office_properties import read_properties
from rootle.sources.documents.zip_container import START, ZipContainer
from rootle.sources.files.skip_rules import DAMAGED, ENCRYPTED

_CONTAINER: Final = "META-INF/container.xml"
# This part lists encrypted parts. If only fonts are encrypted, the book can be read.
_ENCRYPTION: Final = "META-INF/encryption.xml"
_HTML_TYPES: Final = frozenset({"application/xhtml+xml", "text/html"})


def read_book(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add a place for each heading of a book."""
    with ZipContainer(file, found) as container:
        package = _package_part(container)
        read_properties(container, found, package)
        chapters = _list_chapters(container, package)
        if not chapters:
            raise DocumentError(DAMAGED)
        if chapters[0] in _encrypted_parts(container):
            raise DocumentError(ENCRYPTED)
        for chapter in chapters:
            read_html(container.read(chapter).decode("utf-8", "replace"), found)


def _package_part(container: ZipContainer) -> str:
    for event in container.events(_CONTAINER) if _CONTAINER in container else ():
        if event.kind == START and event.name == "rootfile":
            path = event.attributes.get("full-path", "")
            if path in container:
                return path
    raise DocumentError(DAMAGED)


def _list_chapters(container: ZipContainer, package: str) -> list[str]:
    """Return the parts with text in reading order (the "spine" of the book)."""
    files: dict[str, str] = {}
    order: list[str] = []
    for event in container.events(package):
        if event.kind != START:
            continue
        if event.name == "item" and event.attributes.get("media-type") in _HTML_TYPES:
            href = unquote(event.attributes.get("href", ""))
            path = posixpath.normpath(posixpath.join(posixpath.dirname(package), href))
            files[event.attributes.get("id", "")] = path
        elif event.name == "itemref":
            order.append(event.attributes.get("idref", ""))
    chapters = (files[name] for name in order if name in files)
    return [path for path in dict.fromkeys(chapters) if container.has_listed(path)]


def _encrypted_parts(container: ZipContainer) -> set[str]:
    if _ENCRYPTION not in container:
        return set()
    return {
        unquote(event.attributes.get("URI", ""))
        for event in container.events(_ENCRYPTION)
        if event.kind == START and event.name == "CipherReference"
    }
