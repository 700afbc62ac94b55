"""The index with the documents of all indexed revisions of a repository."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import DEFAULT_MODEL, EMBEDDED, Config
from rootle.index.local.database import open_database
from rootle.index.local.manifest import Manifest
from rootle.index.local.views.view_files import (
    has_current_links,
    link_data,
    list_view_files,
)
from rootle.index.reader import FileState
from rootle.indexing.fingerprint import chunk_limits, fingerprint, walk_rules
from rootle.indexing.revisions.index_copy import copy_folder_index
from rootle.indexing.revisions.revision_folders import (
    list_views,
    new_view_dir,
)
from rootle.ingest.pipeline import IngestSetup, Pipeline
from rootle.ingest.plan import Plan, PlannedRead
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.sources.files.skip_rules import UNREADABLE
from rootle.sources.git.trees.revision import Revision
from rootle.sources.git.trees.tree_listing import TreeFile, TreeListing
from rootle.sources.git.trees.tree_source import TreeSource, make_entry
from rootle.storage.permissions import make_subfolder
from rootle.types import (
    FILES,
    ProgressCallback,
    WarningCallback,
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
    index_dir: Path  # of the current files, from which the first revision is copied
    config: Config
    choose_model: Callable[[], ModelChoice]
    open_embedder: Callable[[], Embedder]
    on_warning: WarningCallback


def revision_config(config: Config, *, is_table: bool) -> Config:
    """Return the configuration for earlier versions, which stay on this machine.

    `is_table` is whether the configured model is a lookup table. Another model would need hours for
    each version, so the shipped one is used instead.
    """
    local = replace(config, dense_backend=EMBEDDED, sparse_backend=EMBEDDED)
    if is_table:
        return local
    return replace(local, embedding_model_id=DEFAULT_MODEL, embedding_endpoint="")


class RevisionStore:
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
        """Copy the index of the current files, or else start with an empty store."""
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
