"""Read the files of installed packages."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.parser import HeaderParser
from hashlib import blake2b
from lzma import LZMAError
from typing import Final

from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.files.skip_rules import DAMAGED, UNREADABLE
from rootle.sources.files.text_reader import extract_text
from rootle.sources.packages.package import PackageFile
from rootle.sources.source import Document, DocumentEntry
from rootle.storage.open_without_links import open_below

# The timestamp fields of a document entry (`mtime_ns` and `ctime_ns`) hold the hash of its content,
# 60 bits in each, as for files of a commit. The same URI with the same hash is the same document in
# every project.
_DIGITS: Final = 15
_PACKAGE_KIND: Final = "package"
_ZIP_ERRORS: Final = (
    *(zipfile.BadZipFile, zlib.error, LZMAError, EOFError),
    *(KeyError, RuntimeError, ValueError, MemoryError),
)


def read_content(file: PackageFile, max_bytes: int) -> bytes | str:
    """Return at most `max_bytes` bytes of the content of a file, or the reason to skip it."""
    if file.container != "zip":
        return read_below(file.root, file.relative, max_bytes)
    try:
        with (
            open(open_below(file.root, file.relative), "rb") as stream,
            zipfile.ZipFile(stream) as jar,
            jar.open(file.member) as member,
        ):
            return member.read(max_bytes)
    except _ZIP_ERRORS:
        return DAMAGED
    except OSError:
        return UNREADABLE


def hash_content(raw: bytes) -> str:
    """Return the hash that identifies the content of a file."""
    return blake2b(raw, digest_size=16).hexdigest()


def make_package_entry(uri: str, size: int, digest: str) -> DocumentEntry:
    """Return the entry of a file; files with the same URI and content have equal entries."""
    first, second = digest[:_DIGITS], digest[_DIGITS : 2 * _DIGITS]
    return DocumentEntry(uri, size, int(first, 16), int(second, 16))


@dataclass(frozen=True, slots=True)
class PackageReader:
    """Reads files of packages. `files` maps each URI to a file and the hash of its content."""

    files: Mapping[str, tuple[PackageFile, str]]
    max_bytes: int

    def read(self, uri: str) -> Document | str:
        """Return a file as text, or the reason to skip it, as for a file of the project."""
        file, digest = self.files[uri]
        raw = read_content(file, self.max_bytes + 1)
        if isinstance(raw, str):
            return raw
        if hash_content(raw) != digest:  # the file has just changed; the next search lists it again
            return UNREADABLE
        language = ""
        if file.container == "metadata":
            raw, language = read_description(raw)
        path = os.path.join(file.root, file.relative)
        found = extract_text(
            raw, uri, (), self.max_bytes, lambda: max(file.size, len(raw), _measure_size(path))
        )
        if isinstance(found, str):
            return found
        document = found.to_document(uri)
        return replace(document, kind=_PACKAGE_KIND, language=language or document.language)


def read_description(raw: bytes) -> tuple[bytes, str]:
    """Return the description in the metadata of a Python package, and its language.

    The description is usually the README.
    """
    message = HeaderParser().parsestr(raw.decode("utf-8", "replace"))
    language = "markdown" if "markdown" in str(message["Description-Content-Type"]) else "rst"
    body = message.get_payload()
    text = body if isinstance(body, str) and body.strip() else str(message["Description"] or "")
    summary = str(message["Summary"] or "").strip()
    # A line of equal signs makes the name a heading in both Markdown and reStructuredText.
    name = str(message["Name"])
    heading = f"{name}\n{'=' * len(name)}"
    return f"{heading}\n\n{summary}\n\n{text.strip()}\n".encode("utf-8", "replace"), language


def _measure_size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
