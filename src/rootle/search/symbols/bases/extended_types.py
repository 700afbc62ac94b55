"""Find out which implementations of a name have implementations of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.bases.extending_files import can_extend
from rootle.search.symbols.candidate_files import CandidateFiles
from rootle.search.symbols.parsed_files import ParsedFiles, find_occurrences
from rootle.search.symbols.scan_limits import BASE_SCAN
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.syntax.references import classify
from rootle.types import SymbolUse

# The title of a type, up to its type arguments. Group 1 is the name of the type.
_TYPE: Final = re.compile(
    r"(?:actor|class|extension|interface|object|protocol|record|struct|trait) "
    r"(?:\w+(?:\.|::|\\))*(\w+)"
)
_LUA_TABLE: Final = re.compile(r"(?<!\w)(\w+)\s*=")


class ExtendedTypes:
    """Recognizes types that other types extend, within the limits of one answer."""

    def __init__(self, index: IndexReader, parsed: ParsedFiles) -> None:
        self._index = index
        self._parsed = parsed
        self._left_to_read = BASE_SCAN.read_chars
        self._left_to_parse = BASE_SCAN.parsed_chars
        self.is_complete = True  # whether no type was left out because of the limits

    def select_from(self, implementations: Sequence[SymbolUse]) -> tuple[str, ...]:
        """Return the names of the types that have implementations, in order.

        When the limits are exceeded, the remaining types are left out.
        """
        names = dict.fromkeys(filter(None, map(_implementing_type, implementations)))
        files, partly_read = self._files_with(names)
        extended: set[str] = set()
        for state, unknown in files:
            unknown = [name for name in unknown if name not in extended]
            if not unknown:
                continue
            if not self._may_read(state):
                partly_read.update(unknown)
                continue
            text = self._index.text(state.id)
            extended.update(name for name in unknown if self._has_heir(state, text, name))
        self.is_complete = partly_read <= extended
        return tuple(name for name in names if name in extended)

    def _files_with(
        self, names: Iterable[str]
    ) -> tuple[list[tuple[FileState, list[str]]], set[str]]:
        """Return the files with any of the names and the names in each, the shortest file first.

        Each file is listed once, so that it is read only once. Short files come first, because more
        of them can be read within the limits. Also return the names that occur in further files.
        """
        files: dict[int, tuple[FileState, list[str]]] = {}
        partly_read = set()
        for name in names:
            candidates = CandidateFiles(self._index, SymbolRequest(name), BASE_SCAN)
            for state in candidates.states:
                files.setdefault(state.id, (state, []))[1].append(name)
            if not candidates.has_all_states:
                partly_read.add(name)
        return sorted(files.values(), key=lambda one: (one[0].chars, one[0].path)), partly_read

    def _may_read(self, state: FileState) -> bool:
        self._left_to_read -= state.chars
        return min(self._left_to_read, self._left_to_parse) >= 0

    def _has_heir(self, state: FileState, text: str, name: str) -> bool:
        """Return whether a type in a file extends or implements a name."""
        found = find_occurrences(state, text, name)
        if found is None or not can_extend(found):
            return False
        # Cached trees count too, so that the answer does not depend on earlier questions.
        self._left_to_parse -= state.chars
        tree = self._parsed.parse_tree(state, text)
        return tree is not None and any(
            classify(tree, *at, found.size).kind == "implementation" for at in found.positions
        )


def _implementing_type(use: SymbolUse) -> str:
    """Return the name of the type that an implementation defines; "" if it has none."""
    title = use.scope.rpartition(SCOPE_SEPARATOR)[2]
    match = _TYPE.match(title) if title else None
    if match is None and use.path.endswith(".lua"):
        match = _LUA_TABLE.search(use.text)
    return match[1] if match is not None else ""
