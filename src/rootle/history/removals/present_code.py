"""Determine whether code that a commit removed exists in the current files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from rootle.history.commit_search import RemovedLines
from rootle.index.reader import FileState, IndexReader
from rootle.text.terms import WORD, whole_identifier, word_terms
from rootle.types import Symbol

# The minimum number of letters and digits of a line that is compared. Shorter lines occur in many
# files.
_MIN_LETTERS: Final = 6
_MAX_LINES: Final = 60  # removed lines that are compared
_SEARCHED_LINES: Final = 3  # the number of lines, longest first, that are used to find files
_FILES_PER_LINE: Final = 6
_MAX_DEFINERS: Final = 20
# Code still exists if a file contains at least this share of its lines. If the file defines the
# same name, a smaller share is enough, because the definition may have changed since.
_SAME_SHARE: Final = 0.6
_SAME_SHARE_OF_NAME: Final = 0.3
_MAX_TERMS: Final = 12
_MAX_PLACES: Final = 3  # definitions that a note lists


def describe_present(name: str, find_definitions: Callable[[str], Sequence[Symbol]]) -> str:
    """Return where a name is defined now; "" if it is not defined or is empty."""
    found = find_definitions(name) if name else ()
    if not found:
        return ""
    places = ", ".join(f"{one.path}:{one.line}" for one in found[:_MAX_PLACES])
    more = f" and in {len(found) - _MAX_PLACES} other places" if len(found) > _MAX_PLACES else ""
    return f"{name} still exists: it is defined in {places}{more}"


class PresentCode:
    """The current code in an index of files."""

    def __init__(self, index: IndexReader) -> None:
        self._index = index
        self._lines_of = lru_cache(maxsize=64)(self._read_lines)

    def find(self, code: RemovedLines) -> str | None:
        """Return the path of a file with the code; None if it no longer exists.

        The code still exists if a file contains it, if its old file still defines its name, or if
        another file defines its name with similar code.
        """
        lines = _significant(code.lines)
        for state in self._definers(code.name):
            if state.path == code.path or self._share(state, lines) >= _SAME_SHARE_OF_NAME:
                return state.path
        if not lines:
            return None
        at = self._index.file_at(code.path)
        states = [] if at is None else [at]
        states += self._files_with(code.lines)
        head = [line for line in lines if "".join(code.name.split()) in line][:1]
        # A function with a different name may have the same body, so the line with the name must
        # be present as well.
        found = (
            state.path
            for state in states
            if self._share(state, lines) >= _SAME_SHARE and self._share(state, head) == len(head)
        )
        return next(found, None)

    def _definers(self, name: str) -> list[FileState]:
        key = whole_identifier("".join(WORD.findall(name)))
        if not key:
            return []
        ids = self._index.sparse.definers([key], _MAX_DEFINERS)[key]
        spelled = set(self._index.list_symbols(ids))
        if name.rstrip("?!") not in {one.rstrip("?!") for one in spelled}:
            return []
        files = {row.file_id for row in self._index.chunks(ids).values()}
        return list(self._index.files(files).values())

    def _files_with(self, lines: tuple[str, ...]) -> list[FileState]:
        """Return the files that contain all words of one of the longest lines."""
        longest = sorted(set(lines), key=lambda line: (-len(line.strip()), line))
        found: dict[int, None] = {}
        for line in longest[:_SEARCHED_LINES]:
            terms = [term for word in WORD.findall(line) for term in word_terms(word)]
            stems = self._index.sparse.stems(" ".join(dict.fromkeys(terms)))[:_MAX_TERMS]
            if stems:
                files = self._index.sparse.files_with(stems, [], _FILES_PER_LINE, None)
                found.update(dict.fromkeys(files))
        return list(self._index.files(found).values())

    def _share(self, state: FileState, lines: list[str]) -> float:
        if not lines:
            return 0.0
        present = self._lines_of(state.id)
        return sum(line in present for line in lines) / len(lines)

    def _read_lines(self, file_id: int) -> frozenset[str]:
        return frozenset("".join(line.split()) for line in self._index.text(file_id).split("\n"))


def _significant(lines: tuple[str, ...]) -> list[str]:
    normalized = ("".join(line.split()) for line in lines)
    specific = (line for line in normalized if sum(map(str.isalnum, line)) >= _MIN_LETTERS)
    return list(specific)[:_MAX_LINES]
