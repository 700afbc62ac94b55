"""Read files as they were before a commit, to see whether a removed line was code."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from rootle.syntax.references import classify
from rootle.syntax.source_tree import SourceTree, read_source_tree
from rootle.text.languages import language_of

# Files that are read for one answer. Reading and parsing one takes about ten milliseconds.
_MAX_FILES: Final = 1_000
_KEPT_TREES: Final = 8
_MAX_CHARS: Final = 1_000_000
_TEXTS: Final = ("comment", "string")
_QUOTES: Final = b"\"'`"


class PastFiles:
    """Parses files as they were before a commit. At most 1,000 files are read for one answer."""

    def __init__(self, read_before: Callable[[str, str], str | None]) -> None:
        """`read_before` returns the text of a file before a commit, given the hash and the path."""
        self._read_before = read_before
        self._left = _MAX_FILES
        self._tree = lru_cache(maxsize=_KEPT_TREES)(self._read_tree)

    def is_text(self, sha: str, path: str, line: str, name: str) -> bool:
        """Return whether a name on a removed line was only part of a comment or a string.

        The result is False if the file cannot be read or parsed.
        """
        tree = self._tree(sha, path)
        if tree is None:
            return False
        wanted = line.strip().encode("utf-8", "replace")
        word = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?!\w)")
        is_found = False
        for row, start in enumerate(tree.row_starts):
            end = tree.row_starts[row + 1] if row + 1 < len(tree.row_starts) else len(tree.data)
            text = tree.data[start:end]
            # The index keeps only the beginning of a long line.
            if not text.strip().startswith(wanted):
                continue
            for match in word.finditer(text):
                is_found = True
                if _is_code(tree, row, match.start(), match.end()):
                    return False
        return is_found

    def _read_tree(self, sha: str, path: str) -> SourceTree | None:
        if self._left <= 0:
            return None
        self._left -= 1
        text = self._read_before(sha, path)
        if text is None or len(text) > _MAX_CHARS:
            return None
        return read_source_tree(text, language_of(path))


def _is_code(tree: SourceTree, row: int, start: int, end: int) -> bool:
    """Return whether a name is code, or a whole string, such as a key of a dictionary."""
    if classify(tree, row, start, end - start).kind not in _TEXTS:
        return True
    at = tree.row_starts[row]
    before = tree.data[at + start - 1 : at + start] if start else b""
    after = tree.data[at + end : at + end + 1]
    return before != b"" and before == after and before in _QUOTES
