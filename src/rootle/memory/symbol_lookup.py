"""Looks up file names and symbol names in the index of a folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from rootle.errors import IndexStorageError
from rootle.index.reader import IndexReader


class SymbolLookup:
    """Finds files by their names and the names they define. Without an index, it finds nothing."""

    def __init__(self, open_index: Callable[[], IndexReader]) -> None:
        self._open_index = open_index
        self._generation = -1
        self._paths_by_name: Mapping[str, Sequence[str]] = {}

    def find_files(self, name: str) -> list[str]:
        """Return the paths that end with a name such as "token.py" or "auth/token.py"."""
        try:
            index = self._open_index()
            if index.generation != self._generation:
                self._paths_by_name = _group_by_name(index)
                self._generation = index.generation
        except IndexStorageError:
            return []
        paths = self._paths_by_name.get(name.rpartition("/")[2], ())
        return [path for path in paths if f"/{path}".endswith(f"/{name}")]

    def find_definers(self, name: str) -> list[str]:
        """Return the files that define a name; `whole_identifier` must have normalized the name."""
        try:
            index = self._open_index()
            chunks = index.chunks(index.sparse.definers([name])[name])
            files = index.files(dict.fromkeys(chunk.file_id for chunk in chunks.values()))
        except IndexStorageError:
            return []
        return [state.path for state in files.values()]


def _group_by_name(index: IndexReader) -> Mapping[str, Sequence[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for state in index.all_files():
        if state.skip is None:
            groups[state.path.rpartition("/")[2]].append(state.path)
    return groups
