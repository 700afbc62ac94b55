"""Keeps the index of one folder: up to date, whole, and out of the way of other processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from random import random
from time import time
from typing import TYPE_CHECKING, Final

from rootle.concurrency.backoff import Rng
from rootle.config.fields import EMBEDDED, Config
from rootle.errors import IndexStorageError
from rootle.index.local.index_dir import (
    check_index_dir,
    delete_cache_markers,
    delete_content,
    delete_derived,
    is_index,
    is_new,
    mark_as_cache,
)
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.writer_lock import LOCK_NAME, writer_lock
from rootle.indexing.fingerprint import chunk_limits, fingerprint
from rootle.indexing.index_state import IndexState
from rootle.indexing.watch.watcher_channel import FOLDER as WATCH_FOLDER
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.ingest.plan import Plan, plan_documents, plan_sources, update_since
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.plugins.registry import Plugins, find_plugins
from rootle.sources.source import Source
from rootle.types import FILES, IndexReport, IndexUpdated, ProgressCallback, WarningCallback

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.index.local.manifest import Manifest
    from rootle.index.remote.remote_indexes import RemoteIndexes
    from rootle.indexing.embedding_backfill import EmbeddingBackfill
    from rootle.protocols import Embedder

_SHORT_WAIT_S: Final = 5.0


class Indexer:
    """Writes the index of one folder and hands out snapshots of it."""

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
        """`sources`: one of them is that of the files.

        `prestarted`: processes for a first run, started or not.

        `shows_unfinished`: an index can be searched before its first run ends.
        """
        self.root = root
        self.index_dir = index_dir
        self._config = config
        self._choose_model = choose_model
        self._open_embedder = open_embedder
        self._on_warning = on_warning
        self._clock = clock
        self._rng = rng
        self._on_commit = on_commit
        self._early = prestarted
        self._shows_unfinished = shows_unfinished
        self._sources = sources
        self._files = next(source for source in sources if source.name == FILES)
        self.state = IndexState(root, index_dir, config, sources, shows_unfinished=shows_unfinished)
        self.remote_indexes = self._open_remote_indexes()

    def _open_remote_indexes(self) -> RemoteIndexes | None:
        config = self._config
        if config.dense_backend == config.sparse_backend == EMBEDDED:
            return None
        from rootle.index.remote.remote_indexes import RemoteIndexes  # with all that speaks HTTP

        return RemoteIndexes(self.root, self.index_dir, config, self.snapshot)

    def snapshot(self) -> Snapshot:
        return self.state.snapshot()

    def close(self) -> None:
        if self.remote_indexes is not None:
            self.remote_indexes.close()
        self.state.close()

    def has_usable_index(self) -> bool:
        """Whether there is anything to answer from: of this model, these chunks and sizes.

        An index whose first run was cut short holds but some of the files, and does not count.
        """
        try:
            snapshot = self.snapshot()
        except IndexStorageError:
            return False
        was_finished = bool(snapshot.value("updated_at"))
        return was_finished and snapshot.value("fingerprint") == self.fingerprint

    def has_embeddings_due(self) -> bool:
        """Whether chunks wait for their embedding that may be tried now."""
        if self.model.is_table:
            return False
        backlog = self.snapshot().backlog()
        return backlog.count > 0 and (backlog.retry_at_s or 0.0) <= self._clock()

    def prepare(self) -> None:
        """Make the folder of the index; raises IndexStorageError where there can be none."""
        from rootle.index.local.database import storage_errors

        if not os.path.isdir(self.root):
            self._files.scan()  # raises the error before anything is created
        check_index_dir(self.index_dir)
        with storage_errors(self.index_dir):
            self.index_dir.mkdir(parents=True, exist_ok=True)
            mark_as_cache(self.index_dir)

    def update(
        self,
        progress: ProgressCallback,
        *,
        timeout_s: float,
        rebuild: bool = False,
        embed_all: bool = False,
        only: Collection[str] = (),
        update_remotes: bool = True,
    ) -> IndexReport:
        """Index what has changed, waiting `timeout_s` for another writer (below 0: for ever).

        Where chunks wait for their embedding some get it, or as many as can with `embed_all`.
        `only` names the files that may have changed, where they are few and known.

        Raises UnavailableError where it did not let go, IndexStorageError where nothing can be
        written, IngestError where there is no folder to index.
        """
        from rootle.index.local.database import storage_errors

        is_first = is_new(self.index_dir)
        self.prepare()

        def note_waiting() -> None:
            self._early.end()  # whoever is waited for leaves little to do
            # A short wait is not worth a word.
            if not 0 <= timeout_s <= _SHORT_WAIT_S:
                self._say_waiting()

        with writer_lock(self.index_dir, timeout_s, note_waiting):
            with storage_errors(self.index_dir):
                if rebuild:
                    self._drop_from_servers()
                    self._delete_content()
            early = self._early.hand_over()
            try:
                if is_new(self.index_dir):  # still, or again
                    early.start()
                report, event = self._run(progress, only, early, embed_all=embed_all)
            finally:
                early.end()
        if embed_all and not self.model.is_table:
            report = self._embedding_turns().embed_rest(report, self._say_waiting)
        if is_first and update_remotes:  # whoever waits for a whole index waits for them too
            self.update_remotes()
        elif self.remote_indexes is not None and update_remotes:
            self.remote_indexes.wake()
        if event is not None:
            self._on_commit(event)
        return report

    def update_remotes_in_background(self) -> None:
        """Have servers that are known to lack something brought up to date in the background."""
        if self.remote_indexes is not None:
            self.remote_indexes.wake_outdated(self.snapshot())

    def update_remotes(self) -> None:
        """Bring the servers up to date before this returns; says which could not be."""
        for remark in (
            self.remote_indexes.replicate_now() if self.remote_indexes is not None else ()
        ):
            self._on_warning(remark)

    def clear(self) -> bool:
        """Delete the index; False where there was none."""
        from rootle.index.local.database import storage_errors

        if not is_index(self.index_dir):
            return False
        with (
            writer_lock(self.index_dir, -1, self._say_waiting),
            storage_errors(self.index_dir),
        ):
            self._drop_from_servers()
            self._delete_content()
            for lock in self.index_dir.glob("feed-*.lock"):
                lock.unlink()
            delete_cache_markers(self.index_dir)
            if not WatcherChannel(self.index_dir).is_watched():
                shutil.rmtree(self.index_dir / WATCH_FOLDER, ignore_errors=True)
            # Under the lock: whoever waits for it finds that this file is gone and makes another.
            (self.index_dir / LOCK_NAME).unlink()
        with suppress(OSError):  # something else lies there, or another process begins anew
            self.index_dir.rmdir()
        return True

    def _run(
        self,
        progress: ProgressCallback,
        only: Collection[str],
        prestarted: PrestartedWorkers,
        *,
        embed_all: bool,
    ) -> tuple[IndexReport, IndexUpdated | None]:
        from rootle.index.local.database import open_database, storage_errors
        from rootle.index.local.manifest import Manifest
        from rootle.indexing.commit_times import update_commit_times
        from rootle.ingest.pipeline import IngestSetup, Pipeline
        from rootle.storage.transaction import write_transaction

        setup = IngestSetup(
            self._sources,
            self.index_dir,
            chunk_limits(self._config),
            self.model,
            self._open_embedder,
            self.fingerprint,
            prestarted,
            in_stages=self._shows_unfinished,
        )
        connection = open_database(self.index_dir, create=True)
        try:
            with storage_errors(self.index_dir):
                manifest = Manifest(connection)
                pipeline = Pipeline(setup, connection)
                before = manifest.generation()
                if manifest.value("fingerprint") is None:
                    # A new database counts its generations from the start: what an earlier one
                    # left might carry the same number.
                    delete_derived(self.index_dir)
                if manifest.value("fingerprint") != self.fingerprint:
                    self._open_embedder()  # a model that is not there must not cost the old index
                if pipeline.clear_if_incompatible() or not manifest.value("updated_at"):
                    only = ()  # nothing is known of the other files
                plan, only = self._compared(manifest, only)
                report = pipeline.run(plan, progress)
                if not self.model.is_table:
                    turns = self._embedding_turns()
                    report = turns.embed_first(connection, report, embed_all=embed_all)
                with write_transaction(connection):
                    changed = not plan.is_empty
                    update_commit_times(self.root, manifest, content_changed=changed, only=only)
                return report, update_since(before, plan, manifest)
        finally:
            connection.close()

    def _compared(self, manifest: Manifest, only: Collection[str]) -> tuple[Plan, Collection[str]]:
        """Return the plan, and the files that it is limited to; none if it is for everything."""
        plan = plan_documents(self._files, only, manifest.files_at(only)) if only else None
        if plan is not None:
            return plan, only
        return plan_sources(self._sources, manifest.files(), manifest.value), ()

    def _embedding_turns(self) -> EmbeddingBackfill:
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

    @property
    def model(self) -> ModelChoice:
        """The model that embeds."""
        return self._choose_model()

    @property
    def plugins(self) -> Plugins:
        """Those that are installed or named in the configuration."""
        return find_plugins(self._config.plugins)

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that the content of the index depends on, beside the files."""
        return fingerprint(self._config, self.model.fingerprint)

    def _delete_content(self) -> None:
        self.state.close()
        delete_content(self.index_dir)

    def _drop_from_servers(self) -> None:
        if self.remote_indexes is not None and self.state.has_complete_index():
            for remark in self.remote_indexes.drop():
                self._on_warning(remark)

    def _say_waiting(self) -> None:
        self._on_warning("waiting for another rootle process that is indexing this folder")
