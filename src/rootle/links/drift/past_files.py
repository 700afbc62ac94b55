"""Read files as they were before a commit, to see whether a removed line was code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from rootle.syntax.references import classify
from rootle.syntax.source_tree import SourceTree, read_source_tree
from rootle.text.languages import file_language

# The maximum number of files that are read for one answer. Reading and parsing a file takes about
# ten milliseconds.
_MAX_FILES: Final = 1_000
_KEPT_TREES: Final = 8
_MAX_CHARS: Final = 1_000_000
_TEXTS: Final = ("comment", "string")
_MAX_HEAD: Final = 1_000  # characters that are read to find the head of a class
_OVERRIDE: Final = re.compile(r"\boverride\b")
# The base classes in the head of a class. The head ends where the body begins.
_BASES: Final = re.compile(r"(?:\bextends\b|:)([^{]*)$")
_GROUP: Final = re.compile(r"\([^()]*\)|<[^<>]*>")
_MAX_NESTING: Final = 4
_IMPLEMENTS: Final = re.compile(r"\b(?:extends|implements)\b([^{]*)$")
_NAME: Final = re.compile(r"[A-Z]\w+")
_QUOTES: Final = b"\"'`"


class PastFiles:
    """Parses files as they were before a commit. At most 1,000 files are read for one answer."""

    def __init__(self, read_before: Callable[[str, str], str | None]) -> None:
        """`read_before` returns the text of a file before a commit, given the hash and the path."""
        self._read_before = read_before
        self._left = _MAX_FILES
        self.is_exhausted = False  # whether the limit prevented the reading of a file
        self._tree = lru_cache(maxsize=_KEPT_TREES)(self._read_tree)

    def is_text(self, sha: str, path: str, line: str, name: str) -> bool:
        """Return whether every occurrence of a name on a removed line was in a comment or a string.

        The result is False if the file cannot be read or parsed, and True if the limit on files is
        reached: a line that was not checked is no evidence.
        """
        tree = self._tree(sha, path)
        if tree is None:
            return self.is_exhausted
        word = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?!\w)")
        is_found = False
        for row, text in _find_rows(tree, line):
            for match in word.finditer(text):
                is_found = True
                if _is_code(tree, row, match.start(), match.end()):
                    return False
        return is_found

    def read_above(self, sha: str, path: str, line: str, count: int) -> str:
        """Return the lines above the first occurrence of a removed line; "" if it is not found."""
        tree = self._tree(sha, path)
        row = next((row for row, _ in _find_rows(tree, line)), 0) if tree is not None else 0
        if tree is None or row == 0:
            return ""
        start = tree.row_starts[max(0, row - count)]
        return tree.data[start : tree.row_starts[row]].decode("utf-8", "replace")

    def overridden(self, sha: str, path: str, line: str) -> frozenset[str]:
        """Return the classes and interfaces that may declare the method on a removed line.

        The result is empty if the line does not show that the method overrides another method.
        """
        is_php = file_language(path) == "php"
        tree = self._tree(sha, path) if is_php or _OVERRIDE.search(line) else None
        if tree is None:
            return frozenset()
        for row, _ in _find_rows(tree, line):
            classes = [unit for unit in tree.units_at(row) if unit.is_box]
            if classes:
                start = tree.row_starts[classes[-1].row]
                head = tree.data[start : start + _MAX_HEAD].decode("utf-8", "replace")
                head = _remove_groups(head.partition("{")[0])
                found = (_IMPLEMENTS if is_php else _BASES).search(head)
                return frozenset(_NAME.findall(found[1])) if found is not None else frozenset()
        return frozenset()

    def _read_tree(self, sha: str, path: str) -> SourceTree | None:
        if self._left <= 0:
            self.is_exhausted = True
            return None
        self._left -= 1
        text = self._read_before(sha, path)
        if text is None or len(text) > _MAX_CHARS:
            return None
        return read_source_tree(text, file_language(path))


def _remove_groups(head: str) -> str:
    """Return the head of a class without parameters and arguments."""
    for _ in range(_MAX_NESTING):
        head = _GROUP.sub("", head)
    return head


def _find_rows(tree: SourceTree, line: str) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and texts of the rows that begin with the text of a line.

    Indentation is ignored.
    """
    wanted = line.strip().encode("utf-8", "replace")
    starts = tree.row_starts
    for row, start in enumerate(starts):
        text = tree.data[start : starts[row + 1] if row + 1 < len(starts) else len(tree.data)]
        if text.strip().startswith(wanted):
            yield row, text


def _is_code(tree: SourceTree, row: int, start: int, end: int) -> bool:
    """Return whether a name is code or a whole string literal, such as a dictionary key."""
    if classify(tree, row, start, end - start).kind not in _TEXTS:
        return True
    at = tree.row_starts[row]
    before = tree.data[at + start - 1 : at + start] if start else b""
    after = tree.data[at + end : at + end + 1]
    return before != b"" and before == after and before in _QUOTES
