"""The index of a revision, opened for searches."""

from __future__ import annotations

from pathlib import Path

from rootle.index.local.commit_dates import is_reading_history
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.snapshot_source import SnapshotSource
from rootle.indexing.git_history.background_history import HistoryReader
from rootle.types import WarningCallback


class OpenedRevision:
    """Provides the index of a revision, and reads the rest of a long history for its dates."""

    def __init__(
        self, root: Path, view: Path, on_warning: WarningCallback, *, may_write: bool
    ) -> None:
        """Take the folder of the repository and that of the index."""
        self._source = SnapshotSource(view, read_only=not may_write)
        self._history = HistoryReader(root, view, on_warning)
        self._may_write = may_write
        self._has_checked_history = False

    def snapshot(self) -> Snapshot:
        """Return the index, with the dates that are known now."""
        snapshot = self._source.current()
        if not self._has_checked_history:
            self._has_checked_history = True
            if self._may_write and is_reading_history(snapshot.value):
                self._history.start()
        return snapshot

    def close(self) -> None:
        """Stop reading history, and close the files."""
        self._history.stop()
        self._source.close()
