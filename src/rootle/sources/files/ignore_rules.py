"""Ignore files in gitignore syntax, matched as in git.

tests/sources/files/test_ignore_rules.py compares the results with git's. The pathspec library
(1.1.1) differed from git on 20 of 150 random trees: in character classes and `**/`.
"""

from __future__ import annotations

import codecs
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rootle.sources.files.glob_matching import GlobIndex
from rootle.sources.files.regular_file_reader import read_regular

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file; the last line that matches decides."""

    line: int
    ignores: bool  # False for a line with "!"
    only_folders: bool
    # True to match the path relative to the folder of the ignore file; False to match the name.
    whole_path: bool
    pattern: str  # without "!", leading and trailing "/"


class IgnoreFile:
    """The rules of one ignore file."""

    def __init__(self, raw: bytes, base: str = "") -> None:
        """Parse a file. `base` is its folder, ending in "/", or "" for the top folder."""
        self._strip = len(_to_byte_characters(base))
        rules = parse_rules(raw)
        self._ignores = {rule.line: rule.ignores for rule in rules}
        self._any_kind = _PatternIndex(rule for rule in rules if not rule.only_folders)
        self._folders = _PatternIndex(rule for rule in rules if rule.only_folders)

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Return True for ignored, False for re-included by a "!" line, None for no match."""
        line = self.deciding_line(path, is_folder)
        return None if line is None else self.ignores(line)

    def ignores(self, line: int) -> bool:
        """Return True for a line that ignores paths, False for one that re-includes them."""
        return self._ignores[line]

    def deciding_line(self, path: str, is_folder: bool) -> int | None:
        """Return the number, from 0, of the last line that matches; None if no line matches."""
        path = _to_byte_characters(path)
        name, path = path.rpartition("/")[2], path[self._strip :]
        line = self._any_kind.last_line(name, path)
        if is_folder:
            line = max(line, self._folders.last_line(name, path))
        return line if line >= 0 else None


def _to_byte_characters(path: str) -> str:
    """Return the path with one character per byte, because "?" matches one byte in git."""
    return path if path.isascii() else os.fsencode(path).decode("latin-1")


class _PatternIndex:
    """The patterns of an ignore file: patterns for names, and patterns for paths."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        names: dict[str, int] = {}
        paths: dict[str, int] = {}
        for rule in rules:  # of several lines with the same pattern, the last one decides
            (paths if rule.whole_path else names)[rule.pattern] = rule.line
        self._names = GlobIndex(names, match_names=True)
        self._paths = GlobIndex(paths, match_names=False)

    def last_line(self, name: str, path: str) -> int:
        """Return the number of the last line that matches; -1 if none does."""
        return max(self._names.last_line(name), self._paths.last_line(path))


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The ignore files that apply to one folder, outermost first; the innermost match decides."""

    files: tuple[IgnoreFile, ...] = ()

    def extend(self, files: Iterable[IgnoreFile]) -> IgnoreRules:
        """Return these rules followed by those of a deeper folder."""
        added = tuple(files)
        return IgnoreRules(self.files + added) if added else self

    def is_ignored(self, path: str, is_folder: bool) -> bool:
        """Return whether an entry is ignored, given that its parent folders are not."""
        for file in reversed(self.files):
            verdict = _cached_verdict(file, path, is_folder)
            if verdict is not None:
                return verdict
        return False


@lru_cache(maxsize=65_536)  # a long-running process walks the same tree many times
def _cached_verdict(file: IgnoreFile, path: str, is_folder: bool) -> bool | None:
    return file.verdict(path, is_folder)


def load_ignore_file(path: str, base: str) -> IgnoreFile | None:
    """Return the ignore file at `path`; None, with a warning, if it cannot be read."""
    raw = read_regular(path)
    if isinstance(raw, bytes):
        return _parse_file(raw, base)
    _LOG.warning("the ignore file %s is not applied: %s", path, raw)
    return None


@lru_cache(maxsize=256)  # a long-running process loads the same files often; most trees have fewer
def _parse_file(raw: bytes, base: str) -> IgnoreFile:
    return IgnoreFile(raw, base)


def parse_rules(raw: bytes) -> list[Rule]:
    """Return the rules of an ignore file in order, without comments and empty lines."""
    rules = (_parse_line(text, line) for line, text in enumerate(split_rules(raw)))
    return [rule for rule in rules if rule is not None]


def split_rules(raw: bytes) -> list[str]:
    """Return the lines of an ignore file, with one character per byte.

    Unlike git, accept UTF-16, in which a shell on Windows may write the file.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raw = raw.decode("utf-16", "replace").encode("utf-8")
    return raw.removeprefix(codecs.BOM_UTF8).decode("latin-1").split("\n")


def _parse_line(text: str, line: int) -> Rule | None:
    if text.startswith("#"):
        return None
    pattern = _strip_trailing_spaces(text.removesuffix("\r"))
    negated = pattern.startswith("!")
    pattern = pattern.removeprefix("!")
    only_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    return Rule(line, not negated, only_folders, "/" in pattern, pattern.removeprefix("/"))


def _strip_trailing_spaces(line: str) -> str:
    """Remove trailing spaces that are not escaped with a backslash."""
    end = position = 0
    while position < len(line):
        if line[position] == " ":
            position += 1
            continue
        if line[position] == "\\":
            position += 1
        position += 1
        end = position
    return line[:end]
