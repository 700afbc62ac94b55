"""Choose the files that may contain or define a name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from rootle.index.reader import ChunkRow, FileState, IndexReader
from rootle.rank.path_features import is_generated
from rootle.search.symbols.definitions import definer_order, path_in_name, split_name
from rootle.search.symbols.scan_limits import ScanLimits
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.search.symbols.uses.owner_filter import is_path_end, path_names
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import MAX_WORD_CHARS, WORD, whole_identifier

_MAX_DEFINERS: Final = 3_000  # chunks that define the name
_MAX_TEXTS: Final = 400


class CandidateFiles:
    """The files for one request, within the limits of a scan."""

    def __init__(self, index: IndexReader, request: SymbolRequest, limits: ScanLimits) -> None:
        self._index = index
        self._request = request
        self._limits = limits
        owners, self._name = split_name(request.name)
        self._owner = owners[0] if owners else ""
        self._path = path_in_name(request.name)
        self.key = whole_identifier("".join(WORD.findall(self._name)))

    @cached_property
    def states(self) -> list[FileState]:
        """The files that are read: those with the words of the name, by BM25."""
        ordered = self._ranked[: self._limits.files]
        ends = accumulate(state.chars for state in ordered)
        # At least one file is read.
        return ordered[: 1 + sum(end < self._limits.read_chars for end in ends)]

    @property
    def has_all_states(self) -> bool:
        """Whether `states` contains all files with the words of the name."""
        return not self.unread_files

    @property
    def unread_files(self) -> int:
        """A lower bound for the number of files outside `states` with the words of the name."""
        return len(self._ranked) - len(self.states)

    @cached_property
    def definers(self) -> list[FileState]:
        """The files that may define the name; files with likelier definitions come first."""
        files = dict.fromkeys(self.defining_chunks)
        allowed = self._request.files
        if allowed is not None and self._request.aspect == "definitions":
            files = dict.fromkeys(at for at in files if at in allowed)
        states = _drop_built_copies(list(self._index.files(files).values()))
        inside = {
            at
            for at, rows in self.defining_chunks.items()
            if any(self._is_in_owner(row.scope) for row in rows)
        }
        return sorted(
            self._filter_by_owner(states),
            key=lambda state: (
                bool(self._path) and not is_path_end(state.path, self._path),
                state.id not in inside,
                *definer_order(state.path, self._name),
            ),
        )

    @property
    def has_all_definers(self) -> bool:
        """Whether all chunks that define the name were looked up."""
        return sum(map(len, self.defining_chunks.values())) < _MAX_DEFINERS

    @cached_property
    def defining_chunks(self) -> Mapping[int, Sequence[ChunkRow]]:
        """The chunks that define the name, by file."""
        ids = self._index.sparse.definers([self.key], _MAX_DEFINERS)[self.key] if self.key else []
        chunks: defaultdict[int, list[ChunkRow]] = defaultdict(list)
        for row in self._index.chunks(ids).values():
            chunks[row.file_id].append(row)
        return chunks

    @cached_property
    def _ranked(self) -> list[FileState]:
        """The files with the words of the name, by BM25, at most one more than may be read."""
        terms = self._terms(self._name)
        if not terms:
            return []
        limit = self._limits.files + 1
        ids = self._index.sparse.files_with(terms, [], limit, self._request.files)
        states = self._index.files(ids)
        return _drop_built_copies([states[at] for at in ids])

    def texts_with(self, name: str) -> list[tuple[str, str]] | None:
        """Return the languages and texts of the source files that contain the words of a name.

        Return None if more than 400 files of any kind contain these words.
        """
        terms = self._terms(name)
        ids = self._index.sparse.files_with(terms, [], _MAX_TEXTS + 1, None) if terms else []
        if len(ids) > _MAX_TEXTS:
            return None
        states = self._index.files(ids).values()
        return [
            (state.language, self._index.text(state.id))
            for state in states
            if state.language in CODE_EXTENSIONS
        ]

    def _terms(self, name: str) -> list[str]:
        words = [whole_identifier(word) for word in WORD.findall(name)]
        fitting = [word for word in words if word and len(word) <= MAX_WORD_CHARS]
        return [stem for word in fitting for stem in self._index.sparse.stems(word)]

    def _filter_by_owner(self, states: Sequence[FileState]) -> Sequence[FileState]:
        """Return the files that contain the requested owner in their text or path.

        If there are none, return all files, so that their definitions are suggested as similar
        names.
        """
        if not self._owner:
            return states
        terms = self._terms(self._owner)
        ids = [state.id for state in states]
        if not terms or not ids:
            return states
        found = set(self._index.sparse.files_with(terms, [], len(ids), ids))
        kept = [
            state for state in states if state.id in found or self._owner in path_names(state.path)
        ]
        return kept or states

    def _is_in_owner(self, scope: str) -> bool:
        """Return whether the scope of a chunk (its enclosing definitions) contains the owner."""
        return bool(self._owner) and self._owner in re.findall(r"\w+", scope)


def _drop_built_copies(states: Sequence[FileState]) -> list[FileState]:
    """Return the files, except generated files with the same content as another file.

    Builds write the same bundle to several folders. Developers change the source of a bundle, so
    one copy of it is enough. Copies of other files are kept, because each of them must be changed.
    """
    kept: dict[object, str] = {}
    for state in sorted(states, key=lambda state: (is_generated(state.path), state.path)):
        kept.setdefault(state.digest or state.id, state.path)
    return [
        state
        for state in states
        if not is_generated(state.path) or kept[state.digest or state.id] == state.path
    ]
