"""The part of the public API that compares documents with the code."""

from __future__ import annotations

from collections.abc import Sequence

from rootle.app.base import AppBase
from rootle.types import DriftAnswer, Memory, ignore_progress


class LinksApi(AppBase):
    """Links documents and code, and finds documents that no longer match the code."""

    def drift(self, paths: Sequence[str] = ()) -> DriftAnswer:
        """Return the names in documents, comments and memories that are gone or have changed.

        `paths` limits this to files and folders. Only names are reported for which there is
        evidence that they were names of this project: in its commits, or because they are qualified
        by something that exists. The index and the index of the commits are updated first.

        Raises QueryError if a path is not indexed.
        """
        from rootle.links.drift.find_drift import find_drift

        container = self._container
        container.refresher().refresh(ignore_progress, fully=False)
        return find_drift(
            paths,
            container.indexer().snapshot(),
            container.symbol_finder(),
            container.history().commit_search(),
            self._list_memories,
        )

    def _list_memories(self) -> Sequence[Memory]:
        return ()
