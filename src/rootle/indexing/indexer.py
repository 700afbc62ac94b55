"""Update, rebuild and delete one index, under a lock."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import random
from time import time
from typing import TYPE_CHECKING, Final

from rootle.concurrency.backoff import Rng
from rootle.config.fields import EMBEDDED, Config
from rootle.errors import IndexStorageError, UnavailableError
from rootle.index.local.content_dir import (
    content_dir,
    create_content_dir,
    delete_all_content,
    delete_derived,
    delete_other_content,
    has_content,
    has_other_content,
    publish_content,
)
from rootle.index.local.index_dir import (
    check_index_dir,
    delete_cache_markers,
    is_index,
    is_new,
    mark_as_cache,
)
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.writer_lock import LOCK_NAME, writer_lock
from rootle.indexing.fingerprint import chunk_limits, fingerprint
from rootle.indexing.history_reader import LOCK_NAME as HISTORY_LOCK
from rootle.indexing.history_reader import HistoryReader
from rootle.indexing.index_state import IndexState
from rootle.indexing.update_listener import NOTICE_NAME, write_update_notice
from rootle.indexing.watch.watcher_channel import FOLDER as WATCH_FOLDER
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.ingest.plan import Plan, plan_documents, plan_sources, update_since
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.plugins.registry import Plugins, find_plugins
from rootle.sources.source import Source
from rootle.storage.paths import default_index_dir
from rootle.storage.permissions import (
    PRIVATE_DIR,
    make_private_dir,
    set_tree_modes,
    shared_dir_mode,
)
from rootle.types import FILES, IndexReport, IndexUpdated, ProgressCallback, WarningCallback

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.index.local.manifest import Manifest
    from rootle.index.remote.remote_indexes import RemoteIndexes
    from rootle.indexing.embedding_backfill import EmbeddingBackfill
    from rootle.ingest.pipeline import Pipeline
    from rootle.protocols import Embedder

_LOG = logging.getLogger(__name__)

# Waits for the writer lock up to this long are not reported to the user.
_SILENT_WAIT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _UpdateRequest:
    """The parameters of one update."""

    on_progress: ProgressCallback
    only: Collection[str]  # the files that may have changed, () for all
    workers: PrestartedWorkers
    complete: bool


class Indexer:
    """Writes the index of one folder and provides snapshots of it."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        sources: Sequence[Source],
        *,
        choose_model: Callable[[], ModelChoice],
        open_embedder: Callable[[], Embedder],
        on_warning: WarningCallback,
        on_commit: Callable[[IndexUpdated], None],
        prestarted: PrestartedWorkers,
        clock: Callable[[], float] = time,
        rng: Rng = random,
        shows_unfinished: bool = False,
    ) -> None:
        """`sources` must include the source of the files. `on_commit` receives each new generation.

        `prestarted` are worker processes for a first run, which may not be started yet. With
        `shows_unfinished`, an index can be searched before its first run has ended.
        """
        self.root = root
        self.index_dir = index_dir
        self._config = config
        self._choose_model = choose_model
        self._open_embedder = open_embedder
        self._on_warning = on_warning
        self._on_commit = on_commit
        self._prestarted = prestarted
        self._clock = clock
        self._rng = rng
        self._shows_unfinished = shows_unfinished
        self._sources = sources
        self._files = next(source for source in sources if source.name == FILES)
        self.state = IndexState(root, index_dir, config, sources, shows_unfinished=shows_unfinished)
        self.remote_indexes = self._open_remote_indexes()
        self._history = HistoryReader(root, index_dir, on_warning)

    @property
    def has_only_files(self) -> bool:
        """Whether the files of the folder are the only source of documents."""
        return len(self._sources) == 1

    @property
    def max_file_bytes(self) -> int:
        """The maximum number of bytes indexed from one file."""
        return self._config.max_file_bytes

    @property
    def model(self) -> ModelChoice:
        """The model that embeds chunks."""
        return self._choose_model()

    @property
    def plugins(self) -> Plugins:
        """The plugins that are installed or named in the configuration."""
        return find_plugins(self._config.plugins)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of everything that determines the content, except the documents."""
        return fingerprint(self._config, self.model.fingerprint)

    def snapshot(self) -> Snapshot:
        """Return the newest snapshot; raise IndexStorageError if there is none."""
        return self.state.snapshot()

    def close(self) -> None:
        self._history.stop()
        if self.remote_indexes is not None:
            self.remote_indexes.close()
        self.state.close()

    def has_usable_index(self) -> bool:
        """Return whether there is a complete index of the current model and chunk settings."""
        try:
            snapshot = self.snapshot()
        except IndexStorageError:
            return False
        is_complete = bool(snapshot.value("updated_at"))
        return is_complete and snapshot.value("fingerprint") == self.fingerprint

    def has_embeddings_due(self) -> bool:
        """Return whether there are pending chunks whose embedding may be tried now."""
        if self.model.is_table:
            return False
        backlog = self.snapshot().backlog()
        return backlog.count > 0 and (backlog.retry_at_s or 0.0) <= self._clock()

    def prepare(self) -> None:
        """Create the index directory; raise IndexStorageError if that is impossible."""
        from rootle.index.local.database import storage_errors

        if not os.path.isdir(self.root):
            self._files.scan()  # raises the error before anything is created
        check_index_dir(self.index_dir)
        with storage_errors(self.index_dir):
            if self.index_dir.parent == (indexes := default_index_dir(self.root).parent):
                make_private_dir(indexes)
            if not self.index_dir.is_dir():
                make_private_dir(self.index_dir)
            mark_as_cache(self.index_dir)
            self._set_permissions()

    def update(
        self,
        on_progress: ProgressCallback,
        *,
        timeout_s: float,
        rebuild: bool = False,
        complete: bool = False,
        only: Collection[str] = (),
        update_remotes: bool = True,
    ) -> IndexReport:
        """Wait for the writer lock, without limit if `timeout_s` is negative, and index changes.

        Some pending chunks are embedded, or with `complete` as many as possible. A long git history
        is read in the background, or with `complete` before this returns. `only` names the files
        that may have changed, by default all.

        Raises UnavailableError if another process holds the lock, IndexStorageError if the index
        cannot be written, IngestError if there is no folder to index.
        """
        is_first = is_new(self.index_dir)
        self.prepare()

        def on_wait() -> None:
            self._prestarted.end()  # the other process leaves little to read
            if not 0 <= timeout_s <= _SILENT_WAIT_S:
                self._warn_about_waiting()

        with writer_lock(self.index_dir, timeout_s, on_wait):
            workers = self._prestarted.hand_over()
            request = _UpdateRequest(on_progress, only, workers, complete)
            try:
                report, event = self._update_content(request, rebuild=rebuild)
            finally:
                workers.end()
                self._set_permissions()
        if complete and not self.model.is_table:
            report = self._embedding_backfill().embed_rest(report, self._warn_about_waiting)
        if complete:
            self._history.read_all()
        else:
            self.read_history_in_background()
        if update_remotes and is_first:  # a first index is complete when the servers have it too
            self.update_remotes()
        elif update_remotes and self.remote_indexes is not None:
            self.remote_indexes.wake()
        if event is not None:
            # Before the notice, so that the subscribers of this process receive the event once.
            self._on_commit(event)
            write_update_notice(self.index_dir, report.generation)
        return report

    def read_history_in_background(self) -> None:
        """Start reading the part of the git history that is not read yet, if there is one."""
        if self.state.has_history_to_read():
            self._history.start()

    def update_remotes_in_background(self) -> None:
        """Start updating the indexes on search servers that are known to lag behind."""
        if self.remote_indexes is not None:
            self.remote_indexes.wake_outdated(self.snapshot())

    def update_remotes(self) -> None:
        """Update the indexes on search servers; warn about those that fail."""
        if self.remote_indexes is not None:
            for message in self.remote_indexes.replicate_now():
                self._on_warning(message)

    def delete_leftovers(self) -> None:
        """Delete the remains of a killed rebuild, unless a process is writing the index."""
        with suppress(OSError, UnavailableError, IndexStorageError):  # the next update tries again
            if has_other_content(self.index_dir):
                with writer_lock(self.index_dir, 0, lambda: None):
                    delete_other_content(self.index_dir)

    def clear(self) -> bool:
        """Delete the index; return False if there was none."""
        from rootle.index.local.database import storage_errors

        if not is_index(self.index_dir):
            return False
        with (
            writer_lock(self.index_dir, -1, self._warn_about_waiting),
            storage_errors(self.index_dir),
        ):
            self._delete_index()
            for path in (
                *self.index_dir.glob("feed-*.lock"),
                self.index_dir / HISTORY_LOCK,
                self.index_dir / NOTICE_NAME,
            ):
                path.unlink(missing_ok=True)
            delete_cache_markers(self.index_dir)
            if not WatcherChannel(self.index_dir).is_watched():
                shutil.rmtree(self.index_dir / WATCH_FOLDER, ignore_errors=True)
            # Delete the lock file while it is locked: a waiting process then creates a new one.
            (self.index_dir / LOCK_NAME).unlink()
        with suppress(OSError):  # other files are in it, or another process starts a new index
            self.index_dir.rmdir()
        return True

    def _set_permissions(self) -> None:
        """Make all files as private as configured, those of older versions included."""
        set_tree_modes(self.index_dir, shared_dir_mode(self._config.index_sharing))
        if os.path.isdir(self.index_dir / WATCH_FOLDER):
            set_tree_modes(self.index_dir / WATCH_FOLDER, PRIVATE_DIR)

    def _open_remote_indexes(self) -> RemoteIndexes | None:
        config = self._config
        if config.dense_backend == config.sparse_backend == EMBEDDED:
            return None
        from rootle.index.remote.remote_indexes import RemoteIndexes  # imports the HTTP client

        return RemoteIndexes(self.root, self.index_dir, config, self.snapshot)

    def _update_content(
        self, request: _UpdateRequest, *, rebuild: bool
    ) -> tuple[IndexReport, IndexUpdated | None]:
        """Create, update or replace the content under the lock.

        Return the report and, after a change, the event.
        """
        from rootle.index.local.database import has_old_format

        delete_other_content(self.index_dir)
        content = content_dir(self.index_dir)
        if not has_content(self.index_dir) or has_old_format(content):
            # The content of an older version may contain unmasked secrets, and cannot be read.
            delete_all_content(self.index_dir)
            request.workers.start()
            return self._run(self.index_dir, request)
        if not rebuild and self.state.has_other_settings(self.fingerprint):
            _LOG.warning("the model or the chunker changed: rebuilding the index")
            rebuild = True
        return self._replace_content(request) if rebuild else self._run(content, request)

    def _replace_content(self, request: _UpdateRequest) -> tuple[IndexReport, IndexUpdated | None]:
        """Build new content beside the current one, which is used until the new one is complete."""
        from rootle.index.local.database import storage_errors

        request.workers.start()
        previous = self._replicated_snapshot()
        with storage_errors(self.index_dir):
            content = create_content_dir(self.index_dir)
            try:
                # The generations of an index increase, even if its content is replaced.
                generation = self.state.read_generation()
                result = self._run(content, request, start_generation=generation)
                self._set_permissions()
                publish_content(self.index_dir, content)
            except BaseException:
                shutil.rmtree(content, ignore_errors=True)
                raise
            self._drop_replicas(previous)
            delete_other_content(self.index_dir)
        return result

    def _replicated_snapshot(self) -> Snapshot | None:
        """Return the snapshot whose replicas on search servers a rebuild replaces."""
        if self.remote_indexes is None or not self.state.has_complete_index():
            return None
        return self.snapshot()

    def _drop_replicas(self, snapshot: Snapshot | None) -> None:
        if self.remote_indexes is not None and snapshot is not None:
            for message in self.remote_indexes.drop(snapshot):
                self._on_warning(message)

    def _run(
        self, content: Path, request: _UpdateRequest, *, start_generation: int = 0
    ) -> tuple[IndexReport, IndexUpdated | None]:
        """Apply all changes to the given content. New content starts at a generation."""
        from rootle.index.local.database import open_database, storage_errors
        from rootle.index.local.manifest import DATES_DUE, Manifest
        from rootle.indexing.commit_times import update_commit_times
        from rootle.storage.transaction import write_transaction

        with (
            closing(open_database(content, create=True)) as connection,
            storage_errors(self.index_dir),
        ):
            manifest = Manifest(connection)
            if start_generation:
                manifest.set_value("generation", str(start_generation))
            pipeline = self._open_pipeline(content, connection, request.workers)
            before = manifest.generation()
            dates_due = bool(manifest.value(DATES_DUE))  # left by an interrupted run
            self._prepare_content(content, manifest)
            only = request.only
            if pipeline.clear_if_incompatible() or not manifest.value("updated_at"):
                only = ()  # nothing is known about the other files
            plan, only = self._plan(manifest, only)
            report = pipeline.run(plan, request.on_progress)
            if not self.model.is_table:
                backfill = self._embedding_backfill()
                report = backfill.embed_first(
                    content, connection, report, embed_all=request.complete
                )
            with write_transaction(connection):
                changed = dates_due or not plan.is_empty
                dated = () if dates_due else only
                update_commit_times(self.root, connection, content_changed=changed, only=dated)
            return report, update_since(before, plan, manifest)

    def _open_pipeline(
        self, content: Path, connection: sqlite3.Connection, workers: PrestartedWorkers
    ) -> Pipeline:
        from rootle.ingest.pipeline import IngestSetup, Pipeline

        setup = IngestSetup(
            self._sources,
            content,
            chunk_limits(self._config),
            self.model,
            self._open_embedder,
            self.fingerprint,
            workers,
            self._config.secret_exceptions,
            # New content that replaces another one cannot be searched before it is complete.
            in_stages=self._shows_unfinished and content == content_dir(self.index_dir),
        )
        return Pipeline(setup, connection)

    def _prepare_content(self, content: Path, manifest: Manifest) -> None:
        stored = manifest.value("fingerprint")
        if stored is None:
            # A new database starts with generation 0. Derived indexes of an earlier database may
            # have the same generation.
            delete_derived(content)
        if stored != self.fingerprint:
            self._open_embedder()  # a missing model must fail before the old index is deleted

    def _plan(self, manifest: Manifest, only: Collection[str]) -> tuple[Plan, Collection[str]]:
        """Return the plan and the files to which it is limited, () if it covers all files."""
        plan = plan_documents(self._files, only, manifest.files_at(only)) if only else None
        if plan is not None:
            return plan, only
        return plan_sources(self._sources, manifest.files(), manifest.value), ()

    def _embedding_backfill(self) -> EmbeddingBackfill:
        from rootle.indexing.embedding_backfill import EmbeddingBackfill

        return EmbeddingBackfill(
            self.index_dir,
            self.model.model,
            self._open_embedder,
            self._config.dense_timeout_ms / 1000,
            self._on_warning,
            self._clock,
            self._rng,
        )

    def _delete_index(self) -> None:
        """Delete the content of the index, here and on search servers."""
        from rootle.index.local.database import storage_errors

        with storage_errors(self.index_dir):
            self._drop_replicas(self._replicated_snapshot())
            self.state.close()
            delete_all_content(self.index_dir)

    def _warn_about_waiting(self) -> None:
        self._on_warning("waiting for another rootle process that is indexing this folder")
