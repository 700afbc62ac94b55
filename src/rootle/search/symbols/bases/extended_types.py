"""Find the implementations of a name that have implementations of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rootle.index.reader import IndexReader
from rootle.search.symbols.bases.extending_files import can_extend
from rootle.search.symbols.candidate_files import CandidateFiles
from rootle.search.symbols.definitions import SCOPE_SEPARATOR
from rootle.search.symbols.parsed_files import FileOccurrences, ParsedFiles, read_occurrences
from rootle.search.symbols.scan_limits import BASE_SCAN
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.syntax.references import classify
from rootle.types import SymbolUse

# The title of a type around its head, without type arguments.
_TYPE: Final = re.compile(
    r"(?:actor|class|extension|interface|object|protocol|record|struct|trait) (?:\w+\.)*(\w+)"
)
_LUA_TABLE: Final = re.compile(r"(?<!\w)(\w+)\s*=")


class ExtendedTypes:
    """Recognizes types that other types extend, within the limits of one answer."""

    def __init__(self, index: IndexReader, parsed: ParsedFiles) -> None:
        self._index = index
        self._parsed = parsed
        self._left_to_read = BASE_SCAN.read_chars
        self._left_to_parse = BASE_SCAN.parsed_chars

    def select_from(self, implementations: Sequence[SymbolUse]) -> tuple[str, ...]:
        """Return the names of the types that have implementations, in order.

        When the limits are exceeded, the other types are left out.
        """
        names = dict.fromkeys(filter(None, map(_implementing_type, implementations)))
        return tuple(name for name in names if self._is_extended(name))

    def _is_extended(self, name: str) -> bool:
        return any(
            classify(found.tree, *at, found.size).kind == "implementation"
            for found in self._files_with_heads(name)
            if found.tree is not None
            for at in found.positions
        )

    def _files_with_heads(self, name: str) -> Iterator[FileOccurrences]:
        for state in CandidateFiles(self._index, SymbolRequest(name), BASE_SCAN).states:
            self._left_to_read -= state.chars
            if min(self._left_to_read, self._left_to_parse) < 0:
                return
            found = read_occurrences(self._index, state, name)
            if found is None or not can_extend(found):
                continue
            if not self._parsed.has(state):
                self._left_to_parse -= state.chars
            tree = self._parsed.tree_of(state, found.text)
            yield FileOccurrences(state, found.text, found.offsets, found.name, tree)


def _implementing_type(use: SymbolUse) -> str:
    """Return the name of the type that an implementation defines; "" if it has none."""
    title = use.scope.rpartition(SCOPE_SEPARATOR)[2]
    match = _TYPE.match(title) if title else None
    if match is None and use.path.endswith(".lua"):
        match = _LUA_TABLE.search(use.text)
    return match[1] if match is not None else ""
