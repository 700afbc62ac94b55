"""Select the indexed commits that belong to the history of one folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rootle.errors import IngestError
from rootle.index.local.snapshot import Snapshot
from rootle.sources.git.commits.commit_list import list_commits, list_hashes
from rootle.sources.git.git_dirs import find_prefix
from rootle.sources.git.history import read_head_state
from rootle.sources.git.repository import has_unreadable_head, head_commit
from rootle.types import COMMIT_URI

# The index may be older than the checked-out commit, so git lists up to this multiple of the
# maximum number of indexed commits.
_MORE_COMMITS: Final = 2


class CommitScope:
    """Selects the commits that are reachable from the checked-out commit and changed the folder.

    The work trees of a repository share an index. It may be older than the checked-out commit.
    """

    def __init__(self, root: str, max_commits: int) -> None:
        """`root` is the real path of the folder."""
        self._root = root
        self._max_commits = max_commits
        self.prefix = find_prefix(root)  # the path of the folder in its work tree
        self._known: tuple[tuple[str, ...], frozenset[int] | None] | None = None
        self._known_rest: tuple[frozenset[int] | None, frozenset[int], frozenset[int]] | None = None
        self._known_order: tuple[tuple[str, ...], Mapping[int, int]] | None = None
        # The URIs and the places of all commits, each with the state of HEAD for which git listed
        # them. Unlike the results above, they stay valid when a batch of commits is indexed. It
        # would take git seconds to list the same commits again.
        self._known_uris: tuple[str, frozenset[str]] | None = None
        self._known_places: tuple[str, Mapping[str, int]] | None = None

    def find_ids(self, index: Snapshot, indexed_heads: tuple[str, ...]) -> frozenset[int] | None:
        """Return the ids of the selected commits in the index; None if all commits are selected.

        `indexed_heads` are the commits whose whole history is indexed.
        """
        key = (*self._state(index), *indexed_heads)
        if self._known is not None and self._known[0] == key:
            return self._known[1]
        below = frozenset(index.documents_below(self.prefix)) if self.prefix else None
        try:
            ids = self._select(index, indexed_heads, below)
        except IngestError:  # too many commits are better than none
            return below
        self._known = key, ids
        return ids

    def leave_out(
        self, index: Snapshot, ids: frozenset[int] | None, hidden: frozenset[int]
    ) -> frozenset[int] | None:
        """Return the selected commits without the hidden ones; None if all commits are selected.

        `ids` is a result of `find_ids`. As long as nothing changes, the result is the same object.
        """
        if not hidden:
            return ids
        known = self._known_rest
        if known is None or known[0] is not ids or known[1] is not hidden:
            chosen = {state.id for state in index.all_files()} if ids is None else ids
            known = self._known_rest = ids, hidden, frozenset(chosen - hidden)
        return known[2]

    def find_order(self, index: Snapshot) -> Mapping[int, int]:
        """Return the position of each commit of the index in the history, from 0, newest first.

        A commit follows all its descendants, whatever its date. Return an empty mapping if git
        fails.
        """
        key = self._state(index)
        if self._known_order is not None and self._known_order[0] == key:
            return self._known_order[1]
        places = self._list_places()
        if places is None:
            return {}
        states = index.all_files()
        order = {state.id: places[state.path] for state in states if state.path in places}
        self._known_order = key, order
        return order

    def _state(self, index: Snapshot) -> tuple[str, ...]:
        return str(index.folder), str(index.generation), read_head_state(self._root)

    def _select(
        self, index: Snapshot, indexed_heads: tuple[str, ...], below: frozenset[int] | None
    ) -> frozenset[int] | None:
        head = head_commit(Path(self._root))
        if indexed_heads == (head,):
            return below
        if head is None and has_unreadable_head(self._root):
            raise IngestError(f"git cannot read the current commit of {self._root}")
        uris = self._list_uris(head)
        found = {state.id for state in index.all_files() if state.path in uris}
        return frozenset(found if below is None else found & below)

    def _list_uris(self, head: str | None) -> frozenset[str]:
        """Return the URIs of the commits in the history of `head`; raise IngestError if git fails.

        The state of HEAD is read first, so that a commit that is made meanwhile is not missed.
        """
        state = read_head_state(self._root)
        known = self._known_uris
        if known is not None and known[0] == state:
            return known[1]
        limit = _MORE_COMMITS * self._max_commits
        commits = list_commits(self._root, [head], max_count=limit) if head else []
        if commits is None:
            raise IngestError(f"git cannot list the commits of {self._root}")
        uris = frozenset(f"{COMMIT_URI}{commit.sha}" for commit in commits)
        self._known_uris = state, uris
        return uris

    def _list_places(self) -> Mapping[str, int] | None:
        """Return the place of each commit in the history, keyed by URI; None if git fails."""
        state = read_head_state(self._root)
        known = self._known_places
        if known is not None and known[0] == state:
            return known[1]
        head = head_commit(Path(self._root))
        limit = _MORE_COMMITS * self._max_commits
        hashes = list_hashes(self._root, [head], max_count=limit) if head else None
        if hashes is None:
            return None
        places = {f"{COMMIT_URI}{sha}": place for place, sha in enumerate(hashes)}
        self._known_places = state, places
        return places
