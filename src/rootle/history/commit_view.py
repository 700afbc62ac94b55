"""The indexed commits that belong to the history of one folder, with paths relative to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from rootle.index.reader import FileState, IndexReader
from rootle.search.revision_periods import ListPeriod, no_periods
from rootle.types import (
    COMMIT_MESSAGE,
    COMMIT_URI,
    HIDDEN_CHANGE,
    MAX_INDEXED_FILES,
    PARTIAL_COMMIT,
    RENAMED_TO,
    DocumentSection,
)

_T = TypeVar("_T")

# How many of the newest changes of a file are searched for the last change of a function. Older
# changes rarely contain it.
_MAX_CHANGES: Final = 40


@dataclass(frozen=True, slots=True)
class CommitView:
    """A part of an index of commits. Several folders may share the index."""

    index: IndexReader
    # the ids of the commits that belong to the folder; None for all
    ids: Collection[int] | None = None
    folder: str = ""  # the folder's path in the work tree, with a final slash; "" for the top
    # Returns the position of each commit in the history, from 0; see `CommitUpdates.find_order`.
    find_order: Callable[[], Mapping[int, int]] = dict
    list_period: ListPeriod = no_periods  # for `since:` and `until:` with a revision

    @property
    def count(self) -> int:
        """The number of commits that belong to the folder."""
        return self.index.file_count() if self.ids is None else len(self.ids)

    def commit_at(self, uri: str) -> FileState | None:
        """Return the commit with this URI; None if it does not belong to the folder."""
        return next(iter(self.select([self.index.file_at(uri)])), None)

    def find_by_prefix(self, prefix: str) -> list[FileState]:
        """Return the commits whose hashes begin with a prefix."""
        uri = f"{COMMIT_URI}{prefix}"
        if len(prefix) >= 40 and (state := self.commit_at(uri)) is not None:
            return [state]
        return [state for state in self.states() if state.path.startswith(uri)]

    def states(self) -> Iterator[FileState]:
        """Yield all commits that belong to the folder."""
        return self.select(self.index.all_files())

    def select(self, states: Iterable[FileState | None]) -> Iterator[FileState]:
        """Return the commits among `states` that belong to the folder."""
        return (
            state
            for state in states
            if state is not None
            and state.skip is None
            and (self.ids is None or state.id in self.ids)
        )

    def newest_first(self, states: Iterable[FileState]) -> list[FileState]:
        """Return commits in the order of the history: each one after all its descendants.

        Commits whose place in the history is not known come last, ordered by date.
        """
        found = list(states)
        places = self.find_order() if len(found) > 1 else {}

        def key(state: FileState) -> tuple[float, int, int]:
            # Among commits with the same time, newer ones have lower ids.
            return places.get(state.id, math.inf), -(state.committed_s or 0), state.id

        return sorted(found, key=key)

    def read_sections(self, state: FileState) -> list[DocumentSection]:
        """Return the message of a commit and the files below the folder that it changed."""
        named = ((self.relative_label(s.label), s) for s in self.index.read_sections(state.id))
        return [replace(section, label=label) for label, section in named if label is not None]

    def old_paths(self, state: FileState) -> Mapping[str, str]:
        """Map the new path of each file that a commit renamed below the folder to its old path."""
        renamed = (one for one in self.read_sections(state) if one.title.startswith(RENAMED_TO))
        pairs = ((self.relative_label(one.title.removeprefix(RENAMED_TO)), one) for one in renamed)
        return {path: one.label for path, one in pairs if path is not None}

    def may_lack_files(self, state: FileState) -> bool:
        """Return whether a commit may have changed more files than the index lists."""
        sections = self.index.read_sections(state.id)
        files = [one for one in sections if not one.title.startswith(RENAMED_TO)]
        return len(files) > MAX_INDEXED_FILES  # `files` also contains the section of the message

    def list_partial(self) -> set[str]:
        """Return the URIs of the commits of which not all changed lines could be read."""
        # Do not read the states of all commits: in a large repository, this takes 0.25 s.
        found = self.index.paths_with_encoding(PARTIAL_COMMIT)
        return {path for at, path in found if self.ids is None or at in self.ids}

    def list_authors(self) -> list[str]:
        """Return the author of each commit that has one, without reading the states of commits."""
        found = self.index.authors()
        return [author for at, author in found if self.ids is None or at in self.ids]

    def list_changes(
        self, path: str, limit: int = _MAX_CHANGES
    ) -> Sequence[tuple[int, DocumentSection]]:
        """Return the latest changes to a file, each with the id of its commit, newest first."""
        found = self.index.sections_with(f"{self.folder}{path}", limit)
        return [(at, section) for at, section in found if self.ids is None or at in self.ids]

    def has_folder(self, path: str) -> bool:
        """Return whether an indexed commit changed files below a folder at this path."""
        return bool(self.index.documents_below(f"{self.folder}{path.strip('/')}/"))

    def relative_label(self, label: str) -> str | None:
        """Return the label of a section, with a path relative to the folder.

        Return None if the section is about a file outside the folder, or must not be shown.
        """
        if label == HIDDEN_CHANGE:
            return None
        if label == COMMIT_MESSAGE or not self.folder:
            return label
        if not label.startswith(self.folder):
            return None
        path = label.removeprefix(self.folder)
        return f"./{path}" if path == COMMIT_MESSAGE else path

    def count_message_lines(self, state: FileState) -> int:
        """Return how many lines of the indexed text of a commit are its message."""
        sections = self.index.read_sections(state.id)
        return sections[0].end_line if sections else 1

    def is_same(self, other: CommitView) -> bool:
        """Return whether two views have the same commits and the same folder."""
        return self.index is other.index and self.ids is other.ids and self.folder == other.folder


class ViewCache(Generic[_T]):
    """Stores a value for the view that was used last. Thread-safe."""

    def __init__(self, make: Callable[[CommitView], _T]) -> None:
        self._make = make
        self._known: tuple[CommitView, _T] | None = None

    def get(self, view: CommitView) -> _T:
        """Return the value for a view."""
        known = self._known
        if known is None or not known[0].is_same(view):
            known = self._known = view, self._make(view)
        return known[1]
