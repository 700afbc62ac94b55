"""Indexes of earlier versions of a repository, which share the documents that are equal."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import Config
from rootle.errors import IndexStorageError, QueryError
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.index_dir import mark_as_cache
from rootle.index.local.manifest import Manifest
from rootle.index.local.views.view_files import (
    has_current_links,
    link_data,
    list_view_files,
    write_view,
)
from rootle.index.local.writer_lock import writer_lock
from rootle.index.reader import FileState
from rootle.indexing.fingerprint import chunk_limits, fingerprint, walk_rules
from rootle.indexing.git_history.commit_date_update import record_dates_at
from rootle.indexing.revisions.index_copy import copy_folder_index
from rootle.indexing.revisions.opened_revision import OpenedRevision
from rootle.indexing.revisions.revision_folders import (
    STORE_NAME,
    delete_unused,
    list_views,
    measure_revisions,
    new_view_dir,
    note_use,
    publish_view,
    settings_dir,
    view_dir,
)
from rootle.ingest.pipeline import IngestSetup, Pipeline
from rootle.ingest.plan import Plan, PlannedRead
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.sources.files.skip_rules import UNREADABLE
from rootle.sources.git.trees.revision import Revision, RevisionNames
from rootle.sources.git.trees.tree_listing import TreeFile, TreeListing, list_tree_files
from rootle.sources.git.trees.tree_source import TreeSource, make_entry
from rootle.sources.source import SkippedDocument
from rootle.storage.permissions import make_private_dir, make_subfolder
from rootle.storage.transaction import write_transaction
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

# Values of the manifest of the store that views do not have: the progress of its own runs.
_OWN_VALUES: Final = ("histories", "head", "dates_due", "only_added_since", "bytes_expected")
_Key = tuple[str, int, int, int]  # path, size and the hash of the content


@dataclass(frozen=True, slots=True)
class RevisionSetup:
    """The repository folder, the location of the indexes, and how they are built."""

    root: Path
    folder: Path  # of all revisions of the repository
    index_dir: Path  # of the folder as it is now, from which the first revision is copied
    config: Config
    choose_model: Callable[[], ModelChoice]
    open_embedder: Callable[[], Embedder]
    on_warning: WarningCallback


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
        """Delete all indexes; they are created again when they are needed."""
        with self._locked(), storage_errors(self._setup.folder):
            for path in self._setup.folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)

    def clear(self) -> bool:
        """Delete all indexes and their folder; return False if there was none."""
        had_any = self._setup.folder.is_dir()
        if had_any:
            self.discard()
            shutil.rmtree(self._setup.folder, ignore_errors=True)
        return had_any

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
        with self._locked(), storage_errors(self._setup.folder):
            if view.is_dir():  # another process has just created it
                return
            delete_unused(self._setup.folder, view)
            make_subfolder(view.parent)
            store = _Store(self._setup, view.parent / STORE_NAME)
            files = store.add(view, revision, listing, on_progress)
            prepared = new_view_dir(view)
            make_subfolder(prepared)
            try:
                own = [_skipped(skip) for skip in listing.skips]
                write_view(store.folder, prepared, files, own, store.values())
                self._record_dates(prepared, revision)
                publish_view(prepared, view)
            except BaseException:
                shutil.rmtree(prepared, ignore_errors=True)
                raise

    def _record_dates(self, folder: Path, revision: Revision) -> None:
        with closing(open_database(folder, create=False)) as connection:
            with write_transaction(connection):
                record_dates_at(Path(self._root), connection, revision.sha)
            connection.execute("VACUUM main")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        def on_wait() -> None:
            self._setup.on_warning(
                "waiting for another rootle process that is indexing an earlier version"
            )

        make_private_dir(self._setup.folder)
        mark_as_cache(self._setup.folder)
        with writer_lock(self._setup.folder, -1, on_wait):
            yield


class _Store:
    """The index with the documents of all revisions. The caller holds the lock."""

    def __init__(self, setup: RevisionSetup, folder: Path) -> None:
        self.folder = folder
        self._setup = setup
        self._root = os.path.realpath(setup.root)
        self._rules = walk_rules(setup.config)
        self._model = setup.choose_model()
        self._fingerprint = fingerprint(setup.config, self._model.fingerprint)

    def values(self) -> Mapping[str, str]:
        """Return the values of the manifest that a view has too."""
        with closing(open_database(self.folder, create=False)) as connection:
            rows = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        return {name: value for name, value in rows.items() if name not in _OWN_VALUES}

    def add(
        self, view: Path, revision: Revision, listing: TreeListing, on_progress: ProgressCallback
    ) -> list[FileState]:
        """Add the documents that the store lacks, and return those of the revision.

        Documents of deleted revisions are removed.
        """
        if not self.folder.is_dir():
            self._create()
        others = [path for path in list_views(view.parent.parent) if path.parent == view.parent]
        with closing(open_database(self.folder, create=True)) as connection:
            manifest = Manifest(connection)
            plan = _plan(view.name, listing.files, manifest.files(), _used_by(others))
            missing = {planned.entry.uri for planned in plan.read}
            source = TreeSource(
                view.name,
                self._root,
                revision.sha,
                self._rules,
                [file for file in listing.files if file.path in missing],
            )
            try:
                self._run(connection, source, plan, on_progress)
            finally:
                source.reader().close()
            known = {_key(state): state for state in manifest.files()}
        for other in others:
            self._relink(other)
        return [_as_file(known[_key_of(file)]) for file in listing.files]

    def _create(self) -> None:
        """Copy the index of the folder as it is now, or else start with an empty store."""
        prepared = new_view_dir(self.folder)
        make_subfolder(prepared)
        if self._model.is_table:
            copy_folder_index(self._setup.index_dir, prepared, self._fingerprint)
        os.rename(prepared, self.folder)

    def _run(
        self,
        connection: sqlite3.Connection,
        source: TreeSource,
        plan: Plan,
        on_progress: ProgressCallback,
    ) -> None:
        setup = IngestSetup(
            (source,),
            self.folder,
            chunk_limits(self._setup.config),
            self._model,
            self._setup.open_embedder,
            self._fingerprint,
            PrestartedWorkers(),
            self._setup.config.secret_exceptions,
        )
        pipeline = Pipeline(setup, connection)
        pipeline.clear_if_incompatible()
        pipeline.run(plan, on_progress)

    def _relink(self, view: Path) -> None:
        """Let a view use the current data files, so that replaced ones take no more space."""
        if has_current_links(self.folder, view):
            return
        with closing(open_database(view, create=False)) as connection:
            generation = Manifest(connection).generation()
        link_data(self.folder, view, [state.id for state in list_view_files(view)], generation)


def _plan(
    source: str, files: Sequence[TreeFile], stored: Sequence[FileState], used: set[int]
) -> Plan:
    """Return what to read so that the store has all files, and what to remove from it."""
    known = {_key(state) for state in stored if state.skip != UNREADABLE}
    # The first revision replaces the documents of a copied index. Those that are equal are kept.
    replaced = {
        state.path: state
        for state in stored
        if state.source in (FILES, source) and state.id not in used
    }
    read = [
        PlannedRead(source, make_entry(file), replaced.get(file.path))
        for file in files
        if _key_of(file) not in known
    ]
    wanted = {_key_of(file) for file in files}
    kept = {state.id for _, _, state in read if state is not None}
    remove = tuple(
        state
        for state in stored
        if state.id not in kept and state.id not in used and _key(state) not in wanted
    )
    return Plan(tuple(read), (), remove, len(files) - len(read))


def _used_by(views: Sequence[Path]) -> set[int]:
    return {state.id for view in views for state in list_view_files(view)}


def _key(state: FileState) -> _Key:
    return state.path, state.size, state.mtime_ns, state.ctime_ns


def _key_of(file: TreeFile) -> _Key:
    entry = make_entry(file)
    return entry.uri, entry.size, entry.mtime_ns, entry.ctime_ns


def _as_file(state: FileState) -> FileState:
    """Return the state in a view of a stored document; its dates are set later."""
    return state._replace(
        source=FILES,
        mtime_ns=0,
        ctime_ns=0,
        committed_s=None,
        is_dirty=False,
        author="",
    )


def _skipped(skip: SkippedDocument) -> FileState:
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
