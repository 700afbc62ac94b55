"""Where the files and names that a text mentions stand in an index, if there is one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from rootle.errors import IndexStorageError
from rootle.index.reader import IndexReader


class SymbolLookup:
    """Looks names up in the newest snapshot; without an index nothing has a name."""

    def __init__(self, snapshots: Callable[[], IndexReader]) -> None:
        self._snapshots = snapshots
        self._generation = -1
        self._by_name: Mapping[str, Sequence[str]] = {}

    def files_named(self, name: str) -> list[str]:
        """The paths that are this one or end with it: "token.py", "auth/token.py"."""
        try:
            snapshot = self._snapshots()
            if snapshot.generation != self._generation:
                self._by_name = _by_name(snapshot)
                self._generation = snapshot.generation
        except IndexStorageError:
            return []
        last = name.rpartition("/")[2]
        return [path for path in self._by_name.get(last, ()) if f"/{path}".endswith(f"/{name}")]

    def definers(self, name: str) -> list[str]:
        """The files that define a name, which is in the one spelling of `whole_identifier`."""
        try:
            snapshot = self._snapshots()
            chunks = snapshot.chunks(snapshot.sparse.definers([name])[name])
            files = snapshot.files(dict.fromkeys(chunk.file_id for chunk in chunks.values()))
        except IndexStorageError:
            return []
        return [state.path for state in files.values()]


def _by_name(snapshot: IndexReader) -> Mapping[str, Sequence[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for state in snapshot.all_files():
        if state.skip is None:
            found[state.path.rpartition("/")[2]].append(state.path)
    return found
