"""The files below a folder as a source of documents."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from rootle.sources.documents.formats import document_format
from rootle.sources.documents.reading_budget import ReadingBudget
from rootle.sources.files.discovery import WalkRules, look_up_files, walk_files
from rootle.sources.files.skip_rules import GENERATED
from rootle.sources.files.text_places import add_text_places
from rootle.sources.files.text_reader import read_text
from rootle.sources.secret_masking_reader import MaskingReader
from rootle.sources.source import Document, Scan, Trust
from rootle.types import EXTRACTED, FILES

if TYPE_CHECKING:
    from rootle.sources.documents.recognition_cache import RecognitionCache

MAX_SHOWN_BYTES: Final = 16_000_000


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads the files below a folder as text."""

    root: str
    rules: WalkRules
    # Whether files are read to be shown. Generated text and all rows of tables are then returned.
    is_shown: bool = False
    budget: ReadingBudget | None = None

    def read(self, uri: str) -> Document | str:
        """Return a file, given by its path relative to the root, or the reason to skip it."""
        if self._is_document(uri):
            from rootle.sources.documents.reader import read_document

            cache = self._recognition_cache()
            document = read_document(self.root, uri, self.rules.max_file_bytes, cache, self.budget)
            if document is not None:
                return document
        found = read_text(
            self.root, uri, self.rules.readers, self.rules.max_file_bytes, is_shown=self.is_shown
        )
        if isinstance(found, str):
            return found
        if found.encoding != EXTRACTED:
            found = add_text_places(found, uri, is_shown=self.is_shown)
        return found.to_document(uri)

    def _recognition_cache(self) -> RecognitionCache | None:
        """Return the cache of the texts in images, or None if such texts are not recognized."""
        if self.rules.recognize == "off":
            return None
        from rootle.sources.documents.recognition_cache import RecognitionCache

        return RecognitionCache(self.rules.recognition_dir, self.rules.secret_exceptions)

    def _is_document(self, uri: str) -> bool:
        """Return whether a built-in reader converts a file to text; plugins take precedence."""
        plugins = tuple(ending for ending, _ in self.rules.readers)
        return not uri.lower().endswith(plugins) and document_format(uri) is not None


@dataclass(frozen=True, slots=True)
class FileSource:
    """The files below a folder that git does not ignore, without generated and binary files.

    Their URIs are paths relative to the folder, with "/" on every platform.
    """

    root: Path
    rules: WalkRules
    name: ClassVar[str] = FILES
    trust: ClassVar[Trust] = "project"

    def scan(self, token: str = "") -> Scan:  # noqa: ARG002
        return walk_files(self.root, self.rules)

    def look_up(self, uris: Collection[str]) -> Scan | None:
        return look_up_files(self.root, uris, self.rules)

    def is_readable(self, uri: str) -> bool:
        return os.access(self.root / uri, os.R_OK)

    def reader(self) -> FileReader:
        return FileReader(os.fspath(self.root), self.rules, budget=ReadingBudget())


def read_listed_file(root: Path, path: str, rules: WalkRules) -> Document | str | None:
    """Return a file without its secrets, or the reason to skip it; None if it is not listed.

    A generated file is returned although it is not indexed.
    Nothing outside the root is opened: links are not followed, and the walk lists no path with
    "..".
    """
    scan = look_up_files(root, [path], rules) or walk_files(root, rules)
    reason = next((skip.reason for skip in scan.skips if skip.uri == path), None)
    if reason is None and all(entry.uri != path for entry in scan.documents):
        return None
    if reason is not None and reason != GENERATED:
        return reason
    # A text file up to this limit is shown completely, even if only its beginning is indexed. Of a
    # larger file, whole lines from the beginning are shown, which include all indexed lines.
    limit = max(rules.max_file_bytes, MAX_SHOWN_BYTES)
    reader = FileReader(os.fspath(root), replace(rules, max_file_bytes=limit), is_shown=True)
    found = MaskingReader(reader, rules.secret_exceptions).read(path)
    if isinstance(found, Document) and found.omitted_chars and found.encoding != EXTRACTED:
        rest = f"… (about {found.omitted_chars:,} more characters of this large file are not shown)"
        return replace(found, text=f"{found.text}\n{rest}\n")
    return found
