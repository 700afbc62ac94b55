"""The index with the documents of all views."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import Config
from rootle.index.local.database import open_database
from rootle.index.local.manifest import Manifest
from rootle.index.local.views.view_files import (
    has_current_links,
    link_data,
    list_view_files,
    write_view,
)
from rootle.index.reader import FileState
from rootle.indexing.fingerprint import chunk_limits, fingerprint
from rootle.indexing.shared.view_folders import new_view_dir, publish_view
from rootle.ingest.pipeline import IngestSetup, Pipeline
from rootle.ingest.plan import Plan, PlannedRead
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.sources.files.skip_rules import UNREADABLE
from rootle.sources.source import DocumentEntry, Source
from rootle.storage.permissions import make_subfolder
from rootle.types import FILES, ProgressCallback

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.protocols import Embedder

# The manifest values of the store that are not copied to views, because they describe the progress
# of its updates.
_OWN_VALUES: Final = ("histories", "head", "dates_due", "only_added_since", "bytes_expected")
_Key = tuple[str, int, int, int]  # URI, size and the hash of the content

# Returns a context manager that provides a source for the documents with these URIs.
OpenSource = Callable[[Collection[str]], AbstractContextManager[Source]]


@dataclass(frozen=True, slots=True)
class StoreSetup:
    """The settings and models with which a store is built."""

    config: Config
    choose_model: Callable[[], ModelChoice]
    open_embedder: Callable[[], Embedder]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of everything that determines the content, except the documents."""
        return fingerprint(self.config, self.choose_model().fingerprint)


@dataclass(frozen=True, slots=True)
class ViewContent:
    """The documents of a view. The time fields of each entry contain the hash of its content."""

    name: str  # the name of the view, and of its source in the store
    entries: Sequence[DocumentEntry]
    open_source: OpenSource


class SharedStore:
    """The index with the documents of all views. The caller holds the lock.

    A document is identified by its URI and the hash of its content. It is stored only once, even if
    many views contain it.
    """

    def __init__(
        self, setup: StoreSetup, folder: Path, fill: Callable[[Path], None] | None = None
    ) -> None:
        """`fill` may write an index to the empty folder of a new store."""
        self.folder = folder
        self._setup = setup
        self._fill = fill
        self._fingerprint = setup.fingerprint

    def add(
        self, content: ViewContent, others: Sequence[Path], on_progress: ProgressCallback
    ) -> list[FileState]:
        """Add the documents that the store lacks; return the states of all documents of the view.

        The states are in the order of the entries. A document that could not be read is left out.
        `others` are the other views; documents that no view contains are removed.
        """
        if not self.folder.is_dir():
            self._create()
        with closing(open_database(self.folder, create=True)) as connection:
            manifest = Manifest(connection)
            plan = _plan(content, manifest.files(), _used_by(others))
            with content.open_source({planned.entry.uri for planned in plan.read}) as source:
                self._run(connection, source, plan, on_progress)
            known = {_key(state): state for state in manifest.files()}
        for other in others:
            self._relink(other)
        found = (known.get(_entry_key(entry)) for entry in content.entries)
        return [state for state in found if state is not None]

    def publish(
        self,
        view: Path,
        files: Iterable[FileState],
        skipped: Sequence[FileState],
        add_dates: Callable[[sqlite3.Connection], None],
    ) -> None:
        """Create the folder of a view of these documents.

        `skipped` are skipped files that only the view contains, and `add_dates` writes dates.
        """
        prepared = new_view_dir(view)
        make_subfolder(prepared)
        try:
            write_view(
                self.folder, prepared, list(files), skipped, self._shared_values(), add_dates
            )
            publish_view(prepared, view)
        except BaseException:
            shutil.rmtree(prepared, ignore_errors=True)
            raise

    def _shared_values(self) -> Mapping[str, str]:
        """Return the manifest values that also apply to views."""
        with closing(open_database(self.folder, create=False)) as connection:
            rows = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        return {name: value for name, value in rows.items() if name not in _OWN_VALUES}

    def _create(self) -> None:
        prepared = new_view_dir(self.folder)
        make_subfolder(prepared)
        if self._fill is not None:
            self._fill(prepared)
        os.rename(prepared, self.folder)

    def _run(
        self,
        connection: sqlite3.Connection,
        source: Source,
        plan: Plan,
        on_progress: ProgressCallback,
    ) -> None:
        setup = IngestSetup(
            (source,),
            self.folder,
            chunk_limits(self._setup.config),
            self._setup.choose_model(),
            self._setup.open_embedder,
            self._fingerprint,
            PrestartedWorkers(),
            self._setup.config.secret_exceptions,
        )
        pipeline = Pipeline(setup, connection)
        pipeline.clear_if_incompatible()
        pipeline.run(plan, on_progress)

    def _relink(self, view: Path) -> None:
        """Link the current data files into a view, so that the replaced files can be deleted."""
        if has_current_links(self.folder, view):
            return
        with closing(open_database(view, create=False)) as connection:
            generation = Manifest(connection).generation()
        link_data(self.folder, view, [state.id for state in list_view_files(view)], generation)


def _plan(content: ViewContent, stored: Sequence[FileState], used: set[int]) -> Plan:
    """Return what to read so that the store has all documents, and what to remove from it."""
    known = {_key(state) for state in stored if state.skip != UNREADABLE}
    # The first view replaces the documents of a copied index. Equal documents are kept.
    replaced = {
        state.path: state
        for state in stored
        if state.source in (FILES, content.name) and state.id not in used
    }
    read = [
        PlannedRead(content.name, entry, replaced.get(entry.uri))
        for entry in content.entries
        if _entry_key(entry) not in known
    ]
    wanted = {_entry_key(entry) for entry in content.entries}
    kept = {state.id for _, _, state in read if state is not None}
    remove = tuple(
        state
        for state in stored
        if state.id not in kept and state.id not in used and _key(state) not in wanted
    )
    return Plan(tuple(read), (), remove, len(content.entries) - len(read))


def _used_by(views: Sequence[Path]) -> set[int]:
    return {state.id for view in views for state in list_view_files(view)}


def _key(state: FileState) -> _Key:
    return state.path, state.size, state.mtime_ns, state.ctime_ns


def _entry_key(entry: DocumentEntry) -> _Key:
    return entry.uri, entry.size, entry.mtime_ns, entry.ctime_ns
