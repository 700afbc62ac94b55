"""Indexes of earlier versions of a repository. The indexes share equal documents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import DEFAULT_MODEL, EMBEDDED, Config
from rootle.errors import IndexStorageError, QueryError
from rootle.index.local.commit_dates import is_reading_history
from rootle.index.local.database import storage_errors
from rootle.index.local.index_dir import delete_cache_markers, make_cache_folder
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.snapshot_source import SnapshotSource
from rootle.index.local.writer_lock import LOCK_NAME, writer_lock
from rootle.index.reader import FileState
from rootle.indexing.fingerprint import walk_rules
from rootle.indexing.git_history.background_history import HistoryReader
from rootle.indexing.git_history.commit_date_update import record_dates_at
from rootle.indexing.revisions.index_copy import copy_folder_index
from rootle.indexing.shared.shared_store import SharedStore, StoreSetup, ViewContent
from rootle.indexing.shared.view_folders import (
    STORE_NAME,
    delete_all,
    delete_unused,
    list_views,
    note_use,
    settings_dir,
    short_digest,
)
from rootle.indexing.status import measure_folder
from rootle.sources.git.trees.revision import Revision, RevisionNames
from rootle.sources.git.trees.tree_listing import TreeListing, list_tree_files
from rootle.sources.git.trees.tree_source import TreeSource, make_entry
from rootle.sources.source import SkippedDocument, Source
from rootle.storage.permissions import make_subfolder
from rootle.text.languages import UNKNOWN
from rootle.types import (
    FILES,
    ProgressCallback,
    RevisionStatus,
    WarningCallback,
    ignore_progress,
)

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.protocols import Embedder

# Each further revision takes the space of those documents that no other revision contains. Eight
# revisions are enough for the releases that a person compares.
MAX_REVISIONS: Final = 8
_VIEW: Final = re.compile(r"[0-9a-f]{40,64}(?:-[0-9a-f]{8})?")


@dataclass(frozen=True, slots=True)
class RevisionSetup:
    """The repository folder, the location of the indexes, and how they are built."""

    root: Path
    folder: Path  # contains the indexes of all revisions of the repository
    index_dir: Path  # the index of the current files; a new store can start as a copy of it
    config: Config
    choose_model: Callable[[], ModelChoice]
    open_embedder: Callable[[], Embedder]
    on_warning: WarningCallback


def revision_config(config: Config, *, is_table: bool) -> Config:
    """Return the configuration for indexing earlier revisions, without search servers.

    Set `is_table` if the configured model is a lookup table. Any other model would need hours for
    each revision, so the shipped model is used instead.
    """
    # Images in earlier revisions are not read.
    local = replace(config, dense_backend=EMBEDDED, sparse_backend=EMBEDDED, ocr="off")
    if is_table:
        return local
    return replace(local, embedding_model_id=DEFAULT_MODEL, embedding_endpoint="")


class OpenedRevision:
    """Provides the index of a revision, and reads the rest of a long history to get all dates."""

    def __init__(
        self, root: Path, view: Path, on_warning: WarningCallback, *, may_write: bool
    ) -> None:
        """`root` is the folder of the repository, and `view` is the folder of the index."""
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
    """Creates and deletes the indexes of revisions. Thread-safe and process-safe.

    The documents of all revisions are in one index, the store. A document is stored once for each
    path and content. A revision is a view of the store.
    """

    def __init__(self, setup: RevisionSetup) -> None:
        self._setup = setup
        self._store_setup = StoreSetup(setup.config, setup.choose_model, setup.open_embedder)
        self._root = os.path.realpath(setup.root)
        self._rules = walk_rules(setup.config)
        self._found: dict[str, Revision] = {}  # by full hash, which always names the same commit
        self._names = RevisionNames(setup.root)

    def find(self, name: str) -> Revision:
        """Return the commit that a hash, tag, branch or date names; raise QueryError if none."""
        known = self._found.get(name)
        if known is None:
            known = self._names.find(name)
            self._found[known.sha] = known
        return known

    def open(self, sha: str) -> OpenedRevision:
        """Return the index of the commit with this full hash; create it if there is none."""
        may_write = self._setup.config.enable_indexing
        view = self.prepare(self.find(sha))
        return OpenedRevision(Path(self._root), view, self._setup.on_warning, may_write=may_write)

    def note_use(self, sha: str) -> bool:
        """Record that an index is used; return False if it does not exist."""
        view = self._view_path(self.find(sha))
        note_use(view)
        return view.is_dir()

    def prepare(self, revision: Revision, on_progress: ProgressCallback = ignore_progress) -> Path:
        """Return the folder with the index of a revision, after creating it if there is none.

        Raise IndexStorageError if it cannot be written, and IngestError if git fails.
        """
        view = self._view_path(revision)
        if not view.is_dir():
            self._create(revision, view, on_progress)
        note_use(view)
        return view

    def discard(self) -> None:
        """Delete all indexes, if this process may create them again when they are needed."""
        if self._setup.config.enable_indexing:
            with self._hold_lock(), storage_errors(self._setup.folder):
                delete_all(self._setup.folder)

    def clear(self) -> bool:
        """Delete all indexes and their folder; return False if there was none."""
        folder = self._setup.folder
        if not os.path.isdir(folder):
            return False
        with self._hold_lock(), storage_errors(folder):
            delete_all(folder)
            delete_cache_markers(folder)
            # Delete the lock file while it is locked: a waiting process then creates a new one.
            (folder / LOCK_NAME).unlink()
        with suppress(OSError):  # another process starts a new index
            folder.rmdir()
        return True

    def status(self) -> RevisionStatus | None:
        """Return the number of indexed revisions and their size; None if there is none."""
        folder = self._setup.folder
        count = len(list_views(folder, _is_revision_name))
        return RevisionStatus(str(folder), count, measure_folder(folder)) if count else None

    def _view_path(self, revision: Revision) -> Path:
        settings = settings_dir(self._setup.folder, self._store_setup.fingerprint)
        below = f"-{short_digest(revision.prefix)}" if revision.prefix else ""
        return settings / f"{revision.sha}{below}"

    def _create(self, revision: Revision, view: Path, on_progress: ProgressCallback) -> None:
        if not self._setup.config.enable_indexing:
            raise IndexStorageError(
                f"{revision.name} is not indexed, and enableIndexing is false; set it to true to "
                "search this revision"
            )
        on_progress(0, 0)  # git needs a while to list the files of a large repository
        listing = list_tree_files(self._root, revision.sha, self._rules)
        if revision.prefix and not listing.files:
            raise QueryError(f"the folder {revision.prefix} has no files in {revision.name}")
        with self._hold_lock(), storage_errors(self._setup.folder):
            if view.is_dir():  # another process has just created it
                return
            delete_unused(self._setup.folder, view, _is_revision_name, MAX_REVISIONS)
            make_subfolder(view.parent)
            # Report the total before the index of the current files is copied, which takes time.
            on_progress(0, sum(file.size for file in listing.files))
            self._write(revision, view, listing, on_progress)

    def _write(
        self, revision: Revision, view: Path, listing: TreeListing, on_progress: ProgressCallback
    ) -> None:
        store = SharedStore(self._store_setup, view.parent / STORE_NAME, self._copy_index)
        open_source = partial(self._open_source, view.name, revision.sha, listing)
        content = ViewContent(view.name, [make_entry(file) for file in listing.files], open_source)
        views = list_views(self._setup.folder, _is_revision_name)
        others = [path for path in views if path.parent == view.parent]
        states = store.add(content, others, on_progress)
        skipped = [_make_skipped(skip) for skip in listing.skips]
        add_dates = partial(record_dates_at, Path(self._root), sha=revision.sha)
        store.publish(view, map(_as_file, states), skipped, add_dates)

    def _copy_index(self, target: Path) -> None:
        """Copy the index of the current files to a new store, if both use the same model."""
        if self._setup.choose_model().is_table:
            copy_folder_index(self._setup.index_dir, target, self._store_setup.fingerprint)

    @contextmanager
    def _open_source(
        self, name: str, sha: str, listing: TreeListing, uris: Collection[str]
    ) -> Iterator[Source]:
        files = [file for file in listing.files if file.path in uris]
        source = TreeSource(name, self._root, sha, self._rules, files)
        try:
            yield source
        finally:
            source.reader().close()

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        def on_wait() -> None:
            self._setup.on_warning(
                "waiting for another rootle process that is indexing an earlier version"
            )

        make_cache_folder(self._setup.folder)
        with writer_lock(self._setup.folder, -1, on_wait):
            yield


def _is_revision_name(name: str) -> bool:
    """Return whether a folder with this name contains a revision."""
    return _VIEW.fullmatch(name) is not None


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


def _as_file(state: FileState) -> FileState:
    """Return the state that a stored document has in a view; its dates are added later."""
    return state._replace(
        source=FILES,
        mtime_ns=0,
        ctime_ns=0,
        committed_s=None,
        is_dirty=False,
        author="",
    )
