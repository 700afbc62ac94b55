"""The index of the sources that a user added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import EMBEDDED, Config
from rootle.errors import IndexStorageError
from rootle.index.local.snapshot import Snapshot
from rootle.indexing.content_writer import IndexSetup
from rootle.indexing.indexer import Indexer
from rootle.indexing.status import measure_folder
from rootle.ingest.plan import token_key
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.sources.external.store import ExternalStore
from rootle.sources.external.stored_source import EXTERNAL, StoredSource
from rootle.types import ProgressCallback, WarningCallback, ignore_progress

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.protocols import Embedder

_INDEX_DIR: Final = "index"


def external_config(config: Config) -> Config:
    """Return the configuration with which added sources are indexed and searched.

    Search servers receive only documents of the project, not those of added sources. The settings
    of the project for trust, recency and plugins do not apply to added sources.
    """
    return replace(
        config,
        dense_backend=EMBEDDED,
        sparse_backend=EMBEDDED,
        index_sharing="private",
        plugins=(),
        trust=(),
        min_recency_days=0.0,
        # These settings apply only to files of the project. They have a fixed value here, so that
        # changing them does not rebuild the index of the sources.
        ocr="off",
        max_file_bytes=Config().max_file_bytes,
        # Answers depend on the weights of the sources, which are not part of the index.
        enable_cache=False,
    )


class ExternalIndex:
    """Indexes the documents in a store, and provides snapshots of the index. Thread-safe."""

    def __init__(
        self,
        root: Path,
        store: ExternalStore,
        config: Config,
        *,
        choose_model: Callable[[], ModelChoice],
        open_embedder: Callable[[], Embedder],
        on_warning: WarningCallback,
    ) -> None:
        """`config` is the result of `external_config`; the model must be the one that it names."""
        self._may_write = config.enable_indexing
        self._source = StoredSource(store)
        setup = IndexSetup(
            root,
            store.folder / _INDEX_DIR,
            config,
            (self._source,),
            choose_model=choose_model,
            open_embedder=open_embedder,
            on_warning=on_warning,
            has_commit_dates=False,
        )
        workers = PrestartedWorkers(store.folder)
        self._indexer = Indexer(setup, on_commit=lambda _: None, prestarted=workers)

    def snapshot(self) -> Snapshot:
        """Return the newest snapshot; raise IndexStorageError if there is none."""
        return self._indexer.snapshot()

    def update(self, on_progress: ProgressCallback = ignore_progress) -> None:
        """Index all stored documents that have changed.

        Raise IndexStorageError if the index cannot be written.
        """
        if self._may_write and not self._is_current():
            # A damaged index can be rebuilt, because the store contains all documents.
            self._indexer.update(on_progress, timeout_s=-1, rebuild="repair", complete=True)

    def measure(self) -> int:
        """Return the size of the index in bytes."""
        return measure_folder(self._indexer.index_dir)

    def clear(self) -> bool:
        """Delete the index; return False if there was none."""
        return self._indexer.clear()

    def close(self) -> None:
        """Close the files of the index."""
        self._indexer.close()

    def _is_current(self) -> bool:
        try:
            indexed = self.snapshot().value(token_key(EXTERNAL))
        except IndexStorageError:
            return False
        return indexed == self._source.current_token() and self._indexer.has_usable_index()
