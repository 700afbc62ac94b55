"""Read a document file as text that is divided into places, such as pages or slides."""

from __future__ import annotations

import hashlib
import os
import time
from typing import Final

from rootle.sources.documents.child_process import DOCUMENT_PROCESS, DocumentText
from rootle.sources.documents.formats import IMAGE, document_format, is_text_format
from rootle.sources.documents.reading_budget import ReadingBudget
from rootle.sources.documents.recognition_cache import RecognitionCache
from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.files.skip_rules import BINARY, DAMAGED, SECRET, SLOW_FORMAT, UNREADABLE
from rootle.sources.files.skipped_content import is_private_key
from rootle.sources.source import Document
from rootle.storage.open_without_links import open_below
from rootle.types import EXTRACTED

_BLOCK_BYTES: Final = 1 << 20
# The digest of a larger file is computed from its beginning, its end, its size and its modification
# time. The end of a zip file or a PDF lists all parts with their checksums or positions.
_MAX_DIGESTED_BYTES: Final = 64 << 20
# The beginning of a Git LFS pointer, which replaces a large file until the file is downloaded.
_POINTER: Final = b"version https://git-lfs.github.com/"
_RECOGNIZED_FORMATS: Final = frozenset({IMAGE, "pdf"})


def read_document(
    root: str,
    uri: str,
    max_chars: int,
    cache: RecognitionCache | None = None,
    budget: ReadingBudget | None = None,
) -> Document | str | None:
    """Return a document below `root`, or the reason to skip it (one of skip_rules.REASONS).

    Return None if the file is text in spite of its name, so that its lines can be indexed. If the
    document is longer than `max_chars`, only the text up to this limit is returned. With a `cache`,
    text is also recognized in images and in scanned pages of PDF files. If the `budget` of the
    format is spent, the document is not read.
    """
    start = read_below(root, uri, len(_POINTER))
    if isinstance(start, str):
        return start
    name = document_format(uri)
    if name is None:
        return None
    if start == _POINTER:
        return BINARY
    try:
        digest = _digest(root, uri)
    except OSError:
        return UNREADABLE
    if budget is not None and budget.is_spent(name):
        return SLOW_FORMAT
    started = time.monotonic()
    if cache is not None and name in _RECOGNIZED_FORMATS:
        found = _recognize(root, uri, name, digest, max_chars, cache)
    else:
        found = DOCUMENT_PROCESS.read(root, uri, name, max_chars)
    if isinstance(found, str):
        if budget is not None:
            budget.count_failure(name, found, time.monotonic() - started)
        return None if found == DAMAGED and is_text_format(name) else found
    if is_private_key(found.text):
        return SECRET
    return Document(
        uri,
        found.text,
        digest,
        found.language,
        EXTRACTED,
        title=found.title,
        author=found.author,
        date_s=found.date_s,
        sections=found.sections,
        omitted_chars=found.omitted_chars,
    )


def _recognize(
    root: str, uri: str, name: str, digest: bytes, max_chars: int, cache: RecognitionCache
) -> DocumentText | str:
    found = cache.find(digest, max_chars)
    if found is None:
        found = DOCUMENT_PROCESS.read(root, uri, name, max_chars, recognizes=True)
        cache.store(digest, max_chars, found)
    return found


def _digest(root: str, uri: str) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    with os.fdopen(open_below(root, uri), "rb") as file:
        info = os.fstat(file.fileno())
        if info.st_size <= _MAX_DIGESTED_BYTES:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
        else:
            digest.update(f"{info.st_size}/{info.st_mtime_ns}/".encode() + file.read(_BLOCK_BYTES))
            file.seek(-_BLOCK_BYTES, os.SEEK_END)
            digest.update(file.read(_BLOCK_BYTES))
    return digest.digest()
