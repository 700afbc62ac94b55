"""Update, rebuild and delete one index, under a lock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from random import random
from time import time
from typing import TYPE_CHECKING, Final

from rootle.concurrency.backoff import Rng
from rootle.config.fields import EMBEDDED
from rootle.errors import IndexStorageError, UnavailableError
from rootle.index.images import IMAGES_DIR
from rootle.index.local.content_dir import delete_other_content, has_other_content
from rootle.index.local.database import storage_errors
from rootle.index.local.index_dir import (
    check_index_dir,
    delete_cache_markers,
    is_index,
    is_new,
    mark_as_cache,
)
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.update_notice import NOTICE_NAME, write_update_notice
from rootle.index.local.writer_lock import LOCK_NAME, writer_lock
from rootle.indexing.content_replacement import find_unfinished, read_progress
from rootle.indexing.content_writer import (
    ContentWriter,
    IndexSetup,
    Rebuild,
    UpdateRequest,
)
from rootle.indexing.git_history.background_history import LOCK_NAME as HISTORY_LOCK
from rootle.indexing.git_history.background_history import HistoryReader
from rootle.indexing.images import LOCK_NAME as IMAGES_LOCK
from rootle.indexing.index_state import IndexState
from rootle.indexing.watch.watcher_channel import FOLDER as WATCH_FOLDER
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.plugins.registry import Plugins, find_plugins
from rootle.sources.documents.recognition import RECOGNITION_DIR
from rootle.sources.files.discovery import check_root
from rootle.storage.paths import default_index_dir
from rootle.storage.permissions import make_private_dir
from rootle.types import IndexReport, IndexUpdated, ProgressCallback

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.index.remote.remote_indexes import RemoteIndexes
    from rootle.indexing.embedding_backfill import EmbeddingBackfill

# If the timeout for the writer lock is at most this long, the user is not informed of the wait.
_SILENT_WAIT_S: Final = 5.0
_MIN_BYTES_TO_REPORT: Final = 10_000_000  # a smaller index is complete within seconds


class Indexer:
    """Writes the index of one folder and provides snapshots of it."""

    def __init__(
        self,
        setup: IndexSetup,
        *,
        on_commit: Callable[[IndexUpdated], None],
        prestarted: PrestartedWorkers,
        clock: Callable[[], float] = time,
        rng: Rng = random,
    ) -> None:
        """`on_commit` receives each new generation.

        `prestarted` holds worker processes for a first run. They may not have been started yet.
        """
        self.root = setup.root
        self.index_dir = setup.index_dir
        self._setup = setup
        self._on_warning = setup.on_warning
        self._on_commit = on_commit
        self._prestarted = prestarted
        self._clock = clock
        self._rng = rng
        self.state = IndexState(
            setup.root,
            setup.index_dir,
            setup.config,
            setup.sources,
            shows_unfinished=setup.searches_unfinished,
        )
        self.remote_indexes = self._open_remote_indexes()
        self._content = ContentWriter(
            setup, self.state, self.remote_indexes, self._embedding_backfill
        )
        self._history = HistoryReader(setup.root, setup.index_dir, setup.on_warning)

    @property
    def has_only_files(self) -> bool:
        """Whether the files of the folder are the only source of documents."""
        return len(self._setup.sources) == 1

    @property
    def max_file_bytes(self) -> int:
        """The maximum number of bytes indexed from one file."""
        return self._setup.config.max_file_bytes

    @property
    def model(self) -> ModelChoice:
        """The model that embeds chunks."""
        return self._setup.model

    @property
    def plugins(self) -> Plugins:
        """The plugins that are installed or named in the configuration."""
        return find_plugins(self._setup.config.plugins)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of everything that determines the content, except the documents."""
        return self._setup.fingerprint

    def snapshot(self) -> Snapshot:
        """Return the newest snapshot. Raise IndexStorageError if there is none."""
        return self.state.snapshot()

    def close(self) -> None:
        self._history.stop()
        if self._setup.images is not None:
            self._setup.images.stop()
        if self.remote_indexes is not None:
            self.remote_indexes.close()
        self.state.close()

    def has_usable_index(self) -> bool:
        """Return whether there is a complete index, built with the current model and settings."""
        try:
            snapshot = self.snapshot()
        except IndexStorageError:
            return False
        is_complete = bool(snapshot.value("updated_at"))
        return is_complete and snapshot.value("fingerprint") == self.fingerprint

    def read_rebuild_progress(self) -> tuple[int, int] | None:
        """Return how many bytes a rebuild with the current settings has read, and the total.

        The rebuild may be running or interrupted. Return None if there is none.
        """
        content = find_unfinished(self.index_dir, self.fingerprint)
        return None if content is None else read_progress(content)

    def has_embeddings_due(self) -> bool:
        """Return whether there are pending chunks whose embedding may be tried now."""
        if self.model.is_table:
            return False
        backlog = self.snapshot().backlog()
        return backlog.count > 0 and (backlog.retry_at_s or 0.0) <= self._clock()

    def prepare(self) -> None:
        """Create the index directory.

        Raises IngestError if there is no folder to index, and IndexStorageError if the index
        directory cannot be created or contains other files.
        """
        if not os.path.isdir(self.root):
            check_root(os.fspath(self.root))  # raises the error before anything is created
        check_index_dir(self.index_dir)
        with storage_errors(self.index_dir):
            if self.index_dir.parent == (indexes := default_index_dir(self.root).parent):
                make_private_dir(indexes)
            if not self.index_dir.is_dir():
                make_private_dir(self.index_dir)
            mark_as_cache(self.index_dir)
            self._content.set_permissions()

    def update(
        self,
        on_progress: ProgressCallback,
        *,
        timeout_s: float,
        rebuild: Rebuild = "outdated",
        complete: bool = False,
        only: Collection[str] = (),
        update_remotes: bool = True,
    ) -> IndexReport:
        """Wait for the writer lock, then index all changes.

        A negative `timeout_s` means to wait without a limit. With `complete`, this embeds as many
        pending chunks as possible and reads the whole git history. Otherwise, it embeds some of
        them, and a long history is read in the background. `only` names the files that may have
        changed; by default, all files are checked.

        Raises UnavailableError if another process holds the lock, IndexStorageError if the index
        cannot be written, and IngestError if there is no folder to index.
        """
        is_first = is_new(self.index_dir)
        self.prepare()

        def on_wait() -> None:
            # After the wait, the other process will have left little to read.
            self._prestarted.end()
            if not 0 <= timeout_s <= _SILENT_WAIT_S:
                self._warn_about_waiting()

        with writer_lock(self.index_dir, timeout_s, on_wait):
            workers = self._prestarted.hand_over()
            request = UpdateRequest(on_progress, only, workers, complete)
            if complete and is_first and self._setup.has_commit_dates:
                self._history.read_early()
            try:
                report, event = self._content.update(request, rebuild=rebuild)
            except BaseException:
                self._history.stop_early()
                raise
            finally:
                workers.end()
                self._content.set_permissions()
        report = self._finish_reading(report, complete=complete)
        if update_remotes and is_first:  # a first index is not complete until the servers have it
            self.update_remotes()
        elif update_remotes and self.remote_indexes is not None:
            self.remote_indexes.wake()
        if not complete:
            self.embed_images_in_background()
        self._announce(report, event)
        return report

    def _finish_reading(self, report: IndexReport, *, complete: bool) -> IndexReport:
        """Embed what is pending and read the git history: now if `complete`, else later."""
        if complete and not self.model.is_table:
            report = self._embedding_backfill().embed_rest(report, self._warn_about_waiting)
        if complete and self._setup.has_commit_dates:
            self._history.read_all()
        else:
            self.read_history_in_background()
        return report

    def _announce(self, report: IndexReport, event: IndexUpdated | None) -> None:
        """Notify the subscribers in this process and the other processes of an update."""
        if event is not None:
            # Before the notice, so that subscribers in this process receive the event only once.
            self._on_commit(event)
        # The notice is written even without an event: the process that wrote the generation may
        # have been killed before it wrote the notice.
        write_update_notice(self.index_dir, report.generation)

    def read_history_in_background(self) -> None:
        """Start reading the part of the git history that is not read yet, if there is one."""
        if self._setup.has_commit_dates and self.state.has_history_to_read():
            self._history.start()

    def embed_images_in_background(self) -> None:
        """Start embedding new images, if a server for that is configured."""
        if self._setup.images is not None:
            self._setup.images.start()

    def embed_images(self) -> None:
        """Embed all new images, if a server for that is configured; warn if it fails."""
        if self._setup.images is not None:
            self._setup.images.embed_all()

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
        if not is_index(self.index_dir):
            return False
        if self._setup.images is not None:
            self._setup.images.stop()
        with (
            writer_lock(self.index_dir, -1, self._warn_about_waiting),
            storage_errors(self.index_dir),
        ):
            self._content.delete()
            for path in (
                *self.index_dir.glob("feed-*.lock"),
                self.index_dir / HISTORY_LOCK,
                self.index_dir / IMAGES_LOCK,
                self.index_dir / NOTICE_NAME,
            ):
                path.unlink(missing_ok=True)
            for name in (RECOGNITION_DIR, IMAGES_DIR):
                shutil.rmtree(self.index_dir / name, ignore_errors=True)
            delete_cache_markers(self.index_dir)
            if not WatcherChannel(self.index_dir).is_watched():
                shutil.rmtree(self.index_dir / WATCH_FOLDER, ignore_errors=True)
            # Delete the lock file while it is locked: a waiting process then creates a new one.
            (self.index_dir / LOCK_NAME).unlink()
        with suppress(OSError):  # other files are in it, or another process starts a new index
            self.index_dir.rmdir()
        return True

    def _open_remote_indexes(self) -> RemoteIndexes | None:
        config = self._setup.config
        if config.dense_backend == config.sparse_backend == EMBEDDED:
            return None
        from rootle.index.remote.remote_indexes import RemoteIndexes  # imports the HTTP client

        return RemoteIndexes(self.root, self.index_dir, config, self.snapshot)

    def _embedding_backfill(self) -> EmbeddingBackfill:
        from rootle.indexing.embedding_backfill import EmbeddingBackfill

        return EmbeddingBackfill(
            self.index_dir,
            self.model.model,
            self._setup.open_embedder,
            self._setup.config.dense_timeout_ms / 1000,
            self._on_warning,
            self._clock,
            self._rng,
        )

    def _warn_about_waiting(self) -> None:
        read, total = self.state.read_progress() or (0, 0)
        progress = ""
        if total >= _MIN_BYTES_TO_REPORT:
            progress = f" ({read / 1e6:.0f} of {total / 1e6:.0f} MB have been read)"
        self._on_warning(
            f"waiting for another rootle process that is indexing this folder{progress}"
        )
