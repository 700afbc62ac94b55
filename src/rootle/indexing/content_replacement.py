"""Build the new content of an index next to the current content, then switch in one step."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rootle.index.local.content_dir import (
    create_content_dir,
    delete_all_content,
    delete_other_content,
    publish_content,
)
from rootle.index.local.database import storage_errors
from rootle.index.local.snapshot import Snapshot
from rootle.indexing.index_state import IndexState
from rootle.types import WarningCallback

if TYPE_CHECKING:
    from rootle.index.remote.remote_indexes import RemoteIndexes

_T = TypeVar("_T")


class ContentReplacement:
    """Replaces or deletes the content of one index. The caller holds the writer lock."""

    def __init__(
        self,
        index_dir: Path,
        state: IndexState,
        remote_indexes: RemoteIndexes | None,
        on_warning: WarningCallback,
    ) -> None:
        self._index_dir = index_dir
        self._state = state
        self._remote_indexes = remote_indexes
        self._on_warning = on_warning

    def replace(self, write: Callable[[Path, int], _T]) -> _T:
        """Call `write`, publish the content that it has written, and return its result.

        `write` receives an empty folder next to the current content, and the last generation of the
        current content. The generations of the new content continue from there. Searches use the
        current content until `write` returns. If `write` raises an error, searches continue to use
        the current content.
        """
        previous = self._replicated_snapshot()
        with storage_errors(self._index_dir):
            content = create_content_dir(self._index_dir)
            try:
                # The generations of an index must increase, even if its content is replaced.
                result = write(content, self._state.read_generation())
                publish_content(self._index_dir, content)
            except BaseException:
                shutil.rmtree(content, ignore_errors=True)
                raise
            self._drop_replicas(previous)
            delete_other_content(self._index_dir)
        return result

    def delete(self) -> None:
        """Delete the content of the index, here and on search servers."""
        with storage_errors(self._index_dir):
            self._drop_replicas(self._replicated_snapshot())
            self._state.close()
            delete_all_content(self._index_dir)

    def _replicated_snapshot(self) -> Snapshot | None:
        """Return the current snapshot, whose replicas on search servers will become obsolete."""
        if self._remote_indexes is None or not self._state.has_complete_index():
            return None
        return self._state.snapshot()

    def _drop_replicas(self, snapshot: Snapshot | None) -> None:
        if self._remote_indexes is not None and snapshot is not None:
            for message in self._remote_indexes.drop(snapshot):
                self._on_warning(message)
