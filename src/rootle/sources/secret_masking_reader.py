"""Mask the secrets in documents when they are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b

from rootle.sources.masked_sections import mask_sections
from rootle.sources.source import Document, DocumentReader, Source
from rootle.text.secret_masking import mask_patch, mask_secrets
from rootle.types import COMMIT_KIND


@dataclass(frozen=True, slots=True)
class MaskingReader:
    """Masks the secrets in all documents of a reader, before anything else processes them."""

    reader: DocumentReader
    exceptions: tuple[str, ...] = ()  # as in `mask_secrets`

    def read(self, uri: str) -> Document | str:
        """Return a document without secrets, or the reason why it is not indexed."""
        found = self.reader.read(uri)
        return found if isinstance(found, str) else self._mask(found)

    def _mask(self, document: Document) -> Document:
        mask = mask_patch if document.kind == COMMIT_KIND else mask_secrets
        masked = mask(document.text, self.exceptions)
        title = mask_secrets(document.title, self.exceptions).text
        author = mask_secrets(document.author, self.exceptions).text
        sections = mask_sections(document.sections, document.text, masked.text, self.exceptions)
        known = (document.title, document.author, document.sections)
        if not masked.count and (title, author, sections) == known:
            return document
        # A hash of the original would make it possible to guess a short password.
        digest = blake2b(masked.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return replace(
            document,
            text=masked.text,
            title=title,
            author=author,
            sections=sections,
            digest=digest,
            masked=masked.count,
        )


def open_readers(
    sources: Iterable[Source], exceptions: tuple[str, ...]
) -> dict[str, DocumentReader]:
    """Return the readers of sources, by the names of the sources; they mask all secrets."""
    return {source.name: MaskingReader(source.reader(), exceptions) for source in sources}
