"""The stored documents of all added sources, as one source of an index."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.sources.external.store import ExternalStore
from rootle.sources.files.skip_rules import VANISHED
from rootle.sources.source import Document, DocumentEntry, Scan, Trust
from rootle.types import EXTRACTED

EXTERNAL: Final = "external"  # the name of the source
_KIND: Final = "page"


@dataclass(frozen=True, slots=True)
class StoredReader:
    """Reads documents from the store."""

    folder: str

    def read(self, uri: str) -> Document | str:
        """Return a document, or the reason why it cannot be read."""
        found = ExternalStore(Path(self.folder)).read(uri)
        if found is None:
            return VANISHED
        return Document(
            found.uri,
            found.text,
            found.digest,
            found.language,
            EXTRACTED,
            _KIND,
            found.title,
            date_s=found.date_s,
            sections=found.sections,
            masked=found.masked,
        )


class StoredSource:
    """The documents of a store."""

    name = EXTERNAL
    trust: Trust = "external"

    def __init__(self, store: ExternalStore) -> None:
        self._store = store

    def scan(self, token: str = "") -> Scan:
        """List the documents; none if they have not changed since a scan returned `token`."""
        current = self.current_token()
        if token == current:
            return Scan((), is_complete=False, token=current)
        entries = tuple(
            DocumentEntry(uri, size, changed_ns)
            for uri, size, changed_ns in self._store.list_documents()
        )
        return Scan(entries, token=current)

    def current_token(self) -> str:
        """Return the token that a scan would return now."""
        return self._store.token()

    def look_up(self, uris: Collection[str]) -> Scan | None:  # noqa: ARG002
        """Return None: a full scan is fast."""
        return None

    def is_readable(self, uri: str) -> bool:  # noqa: ARG002
        """Return True: a missing document is not listed."""
        return True

    def reader(self) -> StoredReader:
        """Return a reader that worker processes can use."""
        return StoredReader(os.fspath(self._store.folder))
