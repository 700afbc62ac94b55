"""A folder of documents: text, Markdown, HTML, and the formats that `sources.documents` reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rootle.sources.external.readers.html_to_markdown import MarkdownPage
from rootle.sources.external.records import CutFile, ExternalDocument
from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import FileSource
from rootle.sources.source import Document

_HTML: Final = (".html", ".htm", ".xhtml")


def read_folder(
    folder: str, rules: WalkRules
) -> Iterator[ExternalDocument | tuple[str, str] | CutFile]:
    """Yield the documents below a folder, files that are cut, and skipped paths with reasons."""
    source = FileSource(Path(folder), rules)
    scan = source.scan()
    yield from ((skip.uri, skip.reason) for skip in scan.skips)
    reader = source.reader()
    for entry in scan.documents:
        found = reader.read(entry.uri)
        if isinstance(found, str):
            yield entry.uri, found
        else:
            yield _convert(found)
            if found.omitted_chars:
                yield CutFile(found.uri)


def _convert(found: Document) -> ExternalDocument:
    if not found.uri.lower().endswith(_HTML):
        return ExternalDocument(
            found.uri,
            found.text,
            found.title,
            found.language,
            date_s=found.date_s,
            sections=found.sections,
        )
    page = MarkdownPage(found.text)
    return ExternalDocument(found.uri, page.text, page.title)
