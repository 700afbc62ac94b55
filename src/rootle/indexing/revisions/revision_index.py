"""Indexes of earlier versions of a repository, which share the documents that are equal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from rootle.errors import IndexStorageError, QueryError
from rootle.index.local.commit_dates import is_reading_history
from rootle.index.local.database import storage_errors
from rootle.index.local.index_dir import delete_cache_markers, mark_as_cache
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.snapshot_source import SnapshotSource
from rootle.index.local.views.view_files import write_view
from rootle.index.local.writer_lock import LOCK_NAME, writer_lock
from rootle.index.reader import FileState
from rootle.indexing.fingerprint import fingerprint, walk_rules
from rootle.indexing.git_history.background_history import HistoryReader
from rootle.indexing.git_history.commit_date_update import record_dates_at
from rootle.indexing.revisions.revision_folders import (
    STORE_NAME,
    delete_unused,
    measure_revisions,
    new_view_dir,
    note_use,
    publish_view,
    settings_dir,
    view_dir,
)
from rootle.indexing.revisions.revision_store import RevisionSetup, RevisionStore
from rootle.sources.git.trees.revision import Revision, RevisionNames
from rootle.sources.git.trees.tree_listing import list_tree_files
from rootle.sources.source import SkippedDocument
from rootle.storage.permissions import make_private_dir, make_subfolder
from rootle.text.languages import UNKNOWN
from rootle.types import ProgressCallback, RevisionStatus, WarningCallback, ignore_progress


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


class RevisionIndexes:
    """Creates and deletes the indexes of revisions. Thread-safe, also between processes.

    The documents of all revisions are in one index, the store. A document is stored once for each
    path and content. A revision is a view of the store.
    """

    def __init__(self, setup: RevisionSetup) -> None:
        self._setup = setup
        self._root = os.path.realpath(setup.root)
        self._rules = walk_rules(setup.config)
        self._found: dict[str, Revision] = {}  # by hash, which always names the same commit
        self._names = RevisionNames(setup.root)

    def find(self, name: str) -> Revision:
        """Return the commit that a hash, tag, branch or date names; raise QueryError if none."""
        known = self._found.get(name)
        if known is None:
            known = self._names.find(name)
            self._found[known.sha] = known
        return known

    def open(self, sha: str) -> OpenedRevision:
        """Return the index of a commit, given its whole hash, as `prepare` does."""
        may_write = self._setup.config.enable_indexing
        view = self.prepare(self.find(sha))
        return OpenedRevision(Path(self._root), view, self._setup.on_warning, may_write=may_write)

    def note_use(self, sha: str) -> bool:
        """Record that an index is used; return False if it does not exist."""
        view = self._view_of(self.find(sha))
        note_use(view)
        return view.is_dir()

    def prepare(self, revision: Revision, on_progress: ProgressCallback = ignore_progress) -> Path:
        """Return the folder with the index of a revision, after creating it if there is none.

        Raise IndexStorageError if it cannot be written, and IngestError if git fails.
        """
        view = self._view_of(revision)
        if not view.is_dir():
            self._create(revision, view, on_progress)
        note_use(view)
        return view

    def discard(self) -> None:
        """Delete all indexes, if this process may create them again when they are needed."""
        if self._setup.config.enable_indexing:
            with self._hold_lock(), storage_errors(self._setup.folder):
                self._delete_all()

    def clear(self) -> bool:
        """Delete all indexes and their folder; return False if there was none."""
        folder = self._setup.folder
        if not os.path.isdir(folder):
            return False
        with self._hold_lock(), storage_errors(folder):
            self._delete_all()
            delete_cache_markers(folder)
            # Delete the lock file while it is locked: a waiting process then creates a new one.
            (folder / LOCK_NAME).unlink()
        with suppress(OSError):  # another process starts a new index
            folder.rmdir()
        return True

    def _delete_all(self) -> None:
        for path in self._setup.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)

    def status(self) -> RevisionStatus | None:
        """Return the number of indexed revisions and their size; None if there is none."""
        return measure_revisions(self._setup.folder)

    def _view_of(self, revision: Revision) -> Path:
        model = self._setup.choose_model()
        settings = settings_dir(
            self._setup.folder, fingerprint(self._setup.config, model.fingerprint)
        )
        return view_dir(settings, revision)

    def _create(self, revision: Revision, view: Path, on_progress: ProgressCallback) -> None:
        if not self._setup.config.enable_indexing:
            raise IndexStorageError(
                f"{revision.name} is not indexed, and enableIndexing is false; set it to true to "
                "search this revision"
            )
        listing = list_tree_files(self._root, revision.sha, self._rules)
        if revision.prefix and not listing.files:
            raise QueryError(f"the folder {revision.prefix} has no files in {revision.name}")
        with self._hold_lock(), storage_errors(self._setup.folder):
            if view.is_dir():  # another process has just created it
                return
            delete_unused(self._setup.folder, view)
            make_subfolder(view.parent)
            store = RevisionStore(self._setup, view.parent / STORE_NAME)
            files = store.add(view, revision, listing, on_progress)
            prepared = new_view_dir(view)
            make_subfolder(prepared)
            try:
                own = [_make_skipped(skip) for skip in listing.skips]
                add_dates = partial(record_dates_at, Path(self._root), sha=revision.sha)
                write_view(store.folder, prepared, files, own, store.values(), add_dates)
                publish_view(prepared, view)
            except BaseException:
                shutil.rmtree(prepared, ignore_errors=True)
                raise

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        def on_wait() -> None:
            self._setup.on_warning(
                "waiting for another rootle process that is indexing an earlier version"
            )

        make_private_dir(self._setup.folder)
        mark_as_cache(self._setup.folder)
        with writer_lock(self._setup.folder, -1, on_wait):
            yield


def _make_skipped(skip: SkippedDocument) -> FileState:
    return FileState(
        id=0,
        path=skip.uri,
        size=skip.size,
        mtime_ns=0,
        seen_ns=0,
        digest=None,
        skip=skip.reason,
        language=UNKNOWN,
        encoding="",
        chars=0,
        skipped_chars=0,
        committed_s=None,
        is_dirty=False,
        generation=0,
    )
