"""The files of a commit as a source of documents."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import MAX_SHOWN_BYTES
from rootle.sources.files.skip_rules import TOO_LARGE, UNREADABLE
from rootle.sources.files.text_reader import extract_text
from rootle.sources.git.trees.blob_process import BlobProcess
from rootle.sources.git.trees.tree_listing import TreeFile, list_tree_files
from rootle.sources.secret_masking_reader import MaskingReader
from rootle.sources.source import Document, DocumentEntry, Scan, Trust

# The timestamp fields of a document entry (`mtime_ns` and `ctime_ns`) hold the hash of its content,
# 60 bits in each. The same path with the same hash is the same document in every commit.
_BITS: Final = 60
_DIGITS: Final = _BITS // 4


class TreeReader:
    """Reads files of a commit, given a mapping from their paths to the hashes of their contents."""

    def __init__(self, folder: str, rules: WalkRules, blobs: Mapping[str, str]) -> None:
        self._rules = rules
        self._blobs = dict(blobs)
        self._process = BlobProcess(folder)

    def read(self, uri: str) -> Document | str:
        """Return a file as text, or the reason to skip it, as for a file on disk."""
        limit = self._rules.max_file_bytes
        content = self._process.read(self._blobs[uri], limit + 1)
        if content is None:
            return UNREADABLE
        found = extract_text(content.raw, uri, self._rules.readers, limit, lambda: content.size)
        return found if isinstance(found, str) else found.to_document(uri)

    def close(self) -> None:
        """End git; the next read starts it again."""
        self._process.close()


class TreeSource:
    """The files of one commit below a folder, without submodules and links."""

    trust: Trust = "project"

    def __init__(
        self, name: str, folder: str, sha: str, rules: WalkRules, files: Collection[TreeFile] = ()
    ) -> None:
        """`files` are the files that the reader can read."""
        self.name = name
        self._folder = folder
        self._sha = sha
        self._rules = rules
        self._reader = TreeReader(folder, rules, {file.path: file.blob for file in files})

    def scan(self, token: str = "") -> Scan:  # noqa: ARG002
        """List the files of the commit."""
        listing = list_tree_files(self._folder, self._sha, self._rules)
        return Scan(tuple(make_entry(file) for file in listing.files), listing.skips)

    def look_up(self, uris: Collection[str]) -> Scan | None:  # noqa: ARG002
        """Return None, because single files cannot be looked up."""
        return None

    def is_readable(self, uri: str) -> bool:  # noqa: ARG002
        """Return False, because an object that the repository lacks is not looked for again."""
        return False

    def reader(self) -> TreeReader:
        """Return the reader. A copy of it in another process starts its own git."""
        return self._reader


def make_entry(file: TreeFile) -> DocumentEntry:
    """Return the entry of a file; files with the same path and content have equal entries."""
    first, second = file.blob[:_DIGITS], file.blob[_DIGITS : 2 * _DIGITS]
    return DocumentEntry(file.path, file.size, int(first, 16), int(second, 16))


def read_tree_file(root: Path, sha: str, path: str, rules: WalkRules) -> Document | str | None:
    """Return a file of a commit without its secrets, or the reason to skip it; None if missing."""
    folder = os.path.realpath(root)
    listing = list_tree_files(folder, sha, rules)
    for skip in listing.skips:
        if skip.uri == path:
            return skip.reason
    blobs = {file.path: file.blob for file in listing.files if file.path == path}
    if not blobs:
        return None
    # Like a file on disk, the file is shown completely or not at all.
    limit = max(rules.max_file_bytes, MAX_SHOWN_BYTES)
    reader = TreeReader(folder, replace(rules, max_file_bytes=limit), blobs)
    try:
        found = MaskingReader(reader, rules.secret_exceptions).read(path)
    finally:
        reader.close()
    return TOO_LARGE if isinstance(found, Document) and found.omitted_chars else found
