"""The index of the commits of a repository, shared by all of its work trees."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import DEFAULT_MODEL, EMBEDDED, Config
from rootle.errors import IndexStorageError, IngestError, RootleError, UnavailableError
from rootle.index.local.index_dir import HISTORY_DIR
from rootle.index.local.snapshot import Snapshot
from rootle.indexing.content_writer import IndexSetup
from rootle.indexing.indexer import Indexer
from rootle.indexing.status import measure_folder
from rootle.ingest.plan import token_key
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.sources.git.commit_text import explain_hidden_commits
from rootle.sources.git.commits.commit_list import find_commit, list_commits, list_heads
from rootle.sources.git.commits.commit_source import COMMITS, CommitSource
from rootle.sources.git.git_dirs import find_git_folders
from rootle.storage.paths import default_history_dir, default_index_dir
from rootle.types import HistoryStatus, ProgressCallback, WarningCallback, ignore_progress

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.protocols import Embedder

# Another process that updates the same index makes progress for this one too.
_LOCK_TIMEOUT_S: Final = 1.0


def commit_config(config: Config) -> Config:
    """Return the configuration with which commits are indexed and searched.

    Commits stay on this machine. A model that is no lookup table would need hours for them.
    """
    return replace(
        config,
        embedding_model_id=DEFAULT_MODEL,
        embedding_endpoint="",
        dense_backend=EMBEDDED,
        sparse_backend=EMBEDDED,
        plugins=(),
        max_chunks_per_file=0,
    )


def find_history_dir(root: Path, index_dir: Path) -> Path | None:
    """Return where the commits of a folder are indexed; None if there are none to index.

    All work trees of a repository share one index, unless their index directories are chosen.
    """
    real = os.path.realpath(root)
    git = find_git_folders(real)
    if git is None or explain_hidden_commits(root) is not None:
        return None
    if index_dir != default_index_dir(root):
        return index_dir / HISTORY_DIR
    return default_history_dir(Path(git.common))


class CommitIndex:
    """Indexes the commits of one repository and provides snapshots of the index. Thread-safe."""

    def __init__(
        self,
        root: Path,
        history_dir: Path,
        config: Config,
        *,
        choose_model: Callable[[], ModelChoice],
        open_embedder: Callable[[], Embedder],
        on_warning: WarningCallback,
    ) -> None:
        """`config` is the result of `commit_config`, and the model the one that it names."""
        self._root = os.path.realpath(root)
        self._may_write = config.enable_indexing
        self._max_commits = config.max_history_commits
        self._on_warning = on_warning
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        setup = IndexSetup(
            Path(self._root),
            history_dir,
            config,
            (CommitSource(self._root, config.max_history_commits),),
            choose_model=choose_model,
            open_embedder=open_embedder,
            on_warning=on_warning,
            shows_unfinished=True,
            has_commit_dates=False,
        )
        self._indexer = Indexer(setup, on_commit=lambda _: None, prestarted=PrestartedWorkers())

    def snapshot(self) -> Snapshot:
        """Return the newest snapshot; raise IndexStorageError if no commit is indexed yet."""
        return self._indexer.snapshot()

    def exists(self) -> bool:
        """Return whether there may be indexed commits, without opening the index."""
        return self._indexer.index_dir.is_dir()

    def is_current(self) -> bool:
        """Return whether all commits of the current heads are indexed."""
        try:
            indexed = self.snapshot().value(token_key(COMMITS))
        except IndexStorageError:
            return False
        return indexed == " ".join(list_heads(self._root)) and self._indexer.has_usable_index()

    def update(
        self, on_progress: ProgressCallback = ignore_progress, *, timeout_s: float = -1
    ) -> None:
        """Index the new commits; wait for another process that does so, by default without limit.

        Raise UnavailableError if it takes longer, IndexStorageError if the index cannot be written,
        and IngestError if git fails.
        """
        if self._may_write and not self.is_current():
            self._indexer.update(on_progress, timeout_s=timeout_s)

    def prepare(self, wait_s: float) -> bool:
        """Start indexing new commits and wait for a time; return whether all are indexed."""
        if self.is_current():
            return True
        if self._may_write:
            self.update_in_background()
            self.wait(wait_s)
        return self.is_current()

    def date_of(self, revision: str) -> float | None:
        """Return the Unix time of a commit, tag or branch; None if there is none."""
        found = find_commit(self._root, revision)
        return None if found is None else float(found.seconds)

    def list_range(self, older: str, newer: str) -> Sequence[str] | None:
        """Return the hashes in the history of `newer` but not of `older`, newest first.

        None if one of the revisions does not exist.
        """
        first, last = find_commit(self._root, older), find_commit(self._root, newer)
        if first is None or last is None:
            return None
        found = list_commits(
            self._root, [last.sha], without=[first.sha], max_count=self._max_commits
        )
        return None if found is None else [commit.sha for commit in found]

    def update_in_background(self) -> None:
        """Start indexing the new commits, unless that is already happening."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._update_quietly, name="rootle-commits", daemon=True
                )
                self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Wait until the update in the background has ended, or for a time."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def status(self) -> HistoryStatus | None:
        """Return the status of the index; None if no commit is indexed yet."""
        try:
            commits = len(self.snapshot().all_files())
        except IndexStorageError:
            return None
        folder = self._indexer.index_dir
        return HistoryStatus(str(folder), commits, measure_folder(folder), self.is_current())

    def clear(self) -> bool:
        """Delete the index; return False if there was none."""
        return self._indexer.clear()

    def close(self) -> None:
        """Close the files of the index."""
        self._indexer.close()

    def _update_quietly(self) -> None:
        try:
            self.update(timeout_s=_LOCK_TIMEOUT_S)
        except UnavailableError:
            pass  # another process indexes the same commits
        except (IndexStorageError, IngestError) as error:
            self._warn(error)

    def _warn(self, error: RootleError) -> None:
        self._on_warning(f"commits are not searched completely: {error}")
