"""Looks up the files and symbols that a text mentions in the index of a folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from rootle.errors import IndexStorageError
from rootle.index.local.snapshot import Snapshot


class SymbolLookup:
    """Finds files by name and by definition in the latest snapshot; none without an index."""

    def __init__(self, open_snapshot: Callable[[], Snapshot]) -> None:
        self._open_snapshot = open_snapshot
        self._generation = -1
        self._paths_by_name: Mapping[str, Sequence[str]] = {}

    def find_files(self, name: str) -> list[str]:
        """Return the paths that equal or end with a name: "token.py", "auth/token.py"."""
        try:
            snapshot = self._open_snapshot()
            if snapshot.generation != self._generation:
                self._paths_by_name = _group_by_name(snapshot)
                self._generation = snapshot.generation
        except IndexStorageError:
            return []
        paths = self._paths_by_name.get(name.rpartition("/")[2], ())
        return [path for path in paths if f"/{path}".endswith(f"/{name}")]

    def find_definers(self, name: str) -> list[str]:
        """Return the files that define a name, normalized by `whole_identifier`."""
        try:
            snapshot = self._open_snapshot()
            chunks = snapshot.chunks(snapshot.sparse.definers([name])[name])
            files = snapshot.files(dict.fromkeys(chunk.file_id for chunk in chunks.values()))
        except IndexStorageError:
            return []
        return [state.path for state in files.values()]


def _group_by_name(snapshot: Snapshot) -> Mapping[str, Sequence[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for state in snapshot.all_files():
        if state.skip is None:
            groups[state.path.rpartition("/")[2]].append(state.path)
    return groups
