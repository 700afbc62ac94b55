"""Read a file as text, or determine the reason to skip it."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass

from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.files.size_limit import cut_text
from rootle.sources.files.skip_rules import (
    BINARY,
    GENERATED,
    MINIFIED,
    READER_FAILED,
    SECRET,
    reason_by_name,
)
from rootle.sources.files.skipped_content import (
    is_binary,
    is_generated,
    is_minified,
    is_private_key,
)
from rootle.sources.source import Document
from rootle.text.languages import language_of_text
from rootle.types import EXTRACTED, DocumentSection


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file, or the lines at its beginning that fit into the limit."""

    text: str  # without a byte order mark
    encoding: str  # "utf-8", "utf-16", "windows-1252", or EXTRACTED
    digest: bytes  # 16-byte hash (BLAKE2b) of the raw bytes and of `omitted_bytes`
    omitted_bytes: int = 0  # the size of the rest of the file
    sections: tuple[DocumentSection, ...] = ()

    def to_document(self, uri: str) -> Document:
        """Return the file as a document with this URI."""
        return Document(
            uri,
            self.text,
            self.digest,
            language_of_text(uri, self.text),
            self.encoding,
            sections=self.sections,
            omitted_chars=self.omitted_bytes,
        )


def read_text(
    root: str | os.PathLike[str],
    relative: str,
    readers: tuple[tuple[str, str], ...] = (),
    max_bytes: int | None = None,
    *,
    is_shown: bool = False,
) -> TextFile | str:
    """Return the text of a file below `root`, or the reason (one of skip_rules.REASONS) to skip it.

    `relative` is the path of the file below `root`. It determines the language, which decides
    whether the file can count as minified. `readers` are pairs of a file ending and the plugin that
    reads such files, as "package.module:name". If the file is larger than `max_bytes`, only the
    lines that fit are returned; None means no limit. If `is_shown`, generated text is returned as
    well.
    """
    raw = read_below(os.fspath(root), relative, -1 if max_bytes is None else max_bytes + 1)
    if isinstance(raw, str):
        return raw
    path = os.path.join(root, relative)
    return extract_text(
        raw, relative, readers, max_bytes, lambda: os.lstat(path).st_size, is_shown=is_shown
    )


def is_generated_file(text: str, relative: str) -> bool:
    """Return whether a file is skipped as generated, by its name or its text."""
    return GENERATED in (reason_by_name(relative), _skip_reason(text, relative))


def extract_text(
    raw: bytes,
    relative: str,
    readers: tuple[tuple[str, str], ...],
    max_bytes: int | None,
    measure: Callable[[], int],
    *,
    is_shown: bool = False,
) -> TextFile | str:
    """Return the result of `read_text` for content that was read from disk or from elsewhere.

    If the content is longer than `max_bytes`, `raw` must contain at least one more byte than
    `max_bytes`. `measure` then returns the size of the whole content.
    """
    if readers and relative.lower().endswith(tuple(dict(readers))):
        return _read_with_plugin(raw, relative, dict(readers))
    omitted = 0
    if max_bytes is not None and len(raw) > max_bytes:
        raw = cut_text(raw, max_bytes)
        omitted = max(1, measure() - len(raw))
    decoded = decode_text(raw)
    if decoded is None:
        return BINARY
    text, encoding = decoded
    reason = _skip_reason(text, relative)
    if is_shown and reason == GENERATED:
        reason = None
    # The omitted size is part of the digest, so that the index is updated when this size changes.
    return reason or TextFile(text, encoding, _digest(raw, omitted), omitted)


def _read_with_plugin(raw: bytes, relative: str, readers: dict[str, str]) -> TextFile | str:
    from rootle.sources.files.plugin_reader import read_with_plugin

    found = read_with_plugin(relative, raw, readers)
    if found is None:
        return READER_FAILED
    text, sections = found
    if is_private_key(text):
        return SECRET
    return TextFile(text, EXTRACTED, _digest(raw), sections=sections)


def _digest(raw: bytes, omitted: int = 0) -> bytes:
    key = str(omitted).encode() if omitted else b""
    return hashlib.blake2b(raw, digest_size=16, key=key).digest()


def decode_text(raw: bytes) -> tuple[str, str] | None:
    """Return the text and its encoding, with unchanged line endings; None for binary content."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode_utf16(raw)
    if is_binary(raw):
        return None
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return raw.decode("windows-1252", errors="replace"), "windows-1252"


def _decode_utf16(raw: bytes) -> tuple[str, str] | None:
    """Decode text after a UTF-16 byte order mark.

    If the text contains a NUL character, return None: the mark is there by coincidence, or the file
    is UTF-32.
    """
    text = raw.decode("utf-16", errors="replace")
    return None if "\0" in text else (text, "utf-16")


def _skip_reason(text: str, relative: str) -> str | None:
    if is_private_key(text):
        return SECRET
    if is_generated(text, relative):
        return GENERATED
    return MINIFIED if is_minified(text, relative) else None
