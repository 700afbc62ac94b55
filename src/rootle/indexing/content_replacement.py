"""Build the new content of an index next to the current content, then switch in one step.

If the process is killed meanwhile, the next one continues with the new content that it finds.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rootle.errors import IndexStorageError
from rootle.index.local.content_dir import (
    create_content_dir,
    delete_all_content,
    delete_other_content,
    list_other_content,
    publish_content,
)
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.manifest import BYTES_EXPECTED, Manifest
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

    def replace(
        self,
        write: Callable[[Path, int], _T],
        *,
        unfinished: Path | None = None,
        may_continue: bool = False,
    ) -> _T:
        """Call `write`, publish the content that it has written, and return its result.

        `write` receives a folder next to the current content, and the last generation of the
        current content. The generations of the new content continue from there. The folder is
        `unfinished`, or else an empty one. Searches use the current content until `write` returns.
        If `write` raises an error, searches continue to use the current content. The new content is
        then deleted if `may_continue` is not set, or if the error is an IndexStorageError.
        """
        previous = self._replicated_snapshot()
        with storage_errors(self._index_dir):
            content = unfinished or create_content_dir(self._index_dir)
            try:
                # The generations of an index must increase, even if its content is replaced.
                result = write(content, self._state.read_generation())
                publish_content(self._index_dir, content)
            except BaseException as error:
                if not may_continue or isinstance(error, IndexStorageError):
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


def find_unfinished(index_dir: Path, fingerprint: str) -> Path | None:
    """Return new content with the given fingerprint, left by a killed process; None if none.

    If the caller does not hold the writer lock, that process may still be running.
    """
    for content in list_other_content(index_dir):
        if _read_unfinished(content, lambda manifest: manifest.value("fingerprint")) == fingerprint:
            return content
    return None


def read_progress(content: Path) -> tuple[int, int] | None:
    """Return how many bytes unfinished content contains, and how many it will contain.

    Return None if it cannot be read.
    """
    return _read_unfinished(
        content,
        lambda manifest: (manifest.bytes_read(), int(manifest.value(BYTES_EXPECTED) or 0)),
    )


def _read_unfinished(content: Path, read: Callable[[Manifest], _T]) -> _T | None:
    try:
        with (
            closing(open_database(content, create=False)) as connection,
            storage_errors(content),
        ):
            return read(Manifest(connection))
    except IndexStorageError:
        # The process was killed before the tables existed, the format is another one, or the folder
        # has just been deleted.
        return None
