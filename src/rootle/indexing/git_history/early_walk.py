"""Read the history of a folder while its first index is built."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from rootle.index.local.commit_dates import HistoryRecord
from rootle.indexing.git_history.history_walk import HistoryWalk
from rootle.sources.git.history import digest_history_facts, list_committed_files
from rootle.sources.git.repository import head_commit

_RETRY_S: Final = 0.05


class EarlyWalk:
    """A history walk that starts in a thread before the index knows the repository.

    git can run in parallel: while worker processes read the files, the writing process is mostly
    idle.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._walk: HistoryWalk | None = None
        self._start: tuple[HistoryRecord, set[str]] | None = None
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rootle-early-history", daemon=True)
        self._thread.start()

    def take(self, record: HistoryRecord, unread: set[str], timeout_s: float) -> HistoryWalk | None:
        """Return the walk if it started at this record with these files, else None.

        If the walk is not finished after the timeout, it is interrupted and can be continued.
        """
        self._thread.join(timeout_s)
        self.stop()
        return self._walk if self._start == (record, unread) else None

    def stop(self) -> None:
        """End the thread."""
        self._is_stopping.set()
        while self._thread.is_alive():
            if self._walk is not None:  # git may not have started when it is first interrupted
                self._walk.interrupt()
            self._thread.join(_RETRY_S)

    def _run(self) -> None:
        folder = str(self._root)
        head = head_commit(self._root)
        committed = list_committed_files(folder, head) if head else None
        if head is None or committed is None:
            return
        record = HistoryRecord(head, digest_history_facts(folder), walk_head=head)
        walk = HistoryWalk(folder, record, set(committed))
        self._start, self._walk = (record, set(committed)), walk
        walk.run(lambda: not self._is_stopping.is_set())
