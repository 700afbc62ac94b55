"""Create, update, replace and delete the content of one index, under its writer lock."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rootle.config.fields import Config
from rootle.errors import IndexStorageError
from rootle.index.format_version import must_be_deleted
from rootle.index.local.content_dir import (
    content_dir,
    delete_all_content,
    delete_derived,
    delete_other_content,
)
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.manifest import DATES_DUE, Manifest
from rootle.index.local.update_notice import notified_generation, unused_generation
from rootle.indexing.content_replacement import ContentReplacement, find_unfinished
from rootle.indexing.fingerprint import chunk_limits, fingerprint
from rootle.indexing.index_state import IndexState
from rootle.indexing.watch.watcher_channel import FOLDER as WATCH_FOLDER
from rootle.ingest.batches import Stages
from rootle.ingest.plan import Plan, plan_documents, plan_sources, update_since
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.sources.source import Source
from rootle.storage.permissions import PRIVATE_DIR, set_tree_modes, shared_dir_mode
from rootle.storage.transaction import write_transaction
from rootle.types import FILES, IndexReport, IndexUpdated, ProgressCallback, WarningCallback

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.index.remote.remote_indexes import RemoteIndexes
    from rootle.indexing.embedding_backfill import EmbeddingBackfill
    from rootle.indexing.images.image_embedding import ImageEmbedding
    from rootle.ingest.pipeline import Pipeline
    from rootle.protocols import Embedder

_LOG = logging.getLogger(__name__)
# "outdated" replaces content that was built with other settings, "repair" replaces damaged content
# too, and "all" replaces any content. Only "all" never continues an interrupted rebuild.
Rebuild = Literal["outdated", "repair", "all"]


@dataclass(frozen=True)  # without slots, so that the fingerprint can be cached
class IndexSetup:
    """The indexed folder, the location of its index, and how the index is built."""

    root: Path
    index_dir: Path
    config: Config
    sources: Sequence[Source]  # including the source of the files in `root`
    choose_model: Callable[[], ModelChoice]
    open_embedder: Callable[[], Embedder]
    on_warning: WarningCallback
    in_stages: Stages = "never"  # during which runs the index can be searched
    # Whether this process searches an index before its first run has ended.
    searches_unfinished: bool = False
    has_commit_dates: bool = True  # whether git determines the dates of the documents
    images: ImageEmbedding | None = None  # None if images are not embedded
    document_format: str = ""  # version of the code that creates the documents; "" for none

    @property
    def model(self) -> ModelChoice:
        """The model that embeds chunks."""
        return self.choose_model()

    @property
    def files(self) -> Source:
        """The source of the files of the folder."""
        return next(source for source in self.sources if source.name == FILES)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of everything that determines the content, except the documents."""
        found = fingerprint(self.config, self.model.fingerprint)
        return f"{found}/{self.document_format}" if self.document_format else found


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """The parameters of one update."""

    on_progress: ProgressCallback
    only: Collection[str]  # the files that may have changed; () for all
    workers: PrestartedWorkers
    complete: bool


class ContentWriter:
    """Writes the content of one index. The caller holds the writer lock."""

    def __init__(
        self,
        setup: IndexSetup,
        state: IndexState,
        remote_indexes: RemoteIndexes | None,
        open_backfill: Callable[[], EmbeddingBackfill],
    ) -> None:
        self._setup = setup
        self._index_dir = setup.index_dir
        self._state = state
        self._replacement = ContentReplacement(
            setup.index_dir, state, remote_indexes, setup.on_warning
        )
        self._open_backfill = open_backfill

    def update(
        self, request: UpdateRequest, *, rebuild: Rebuild
    ) -> tuple[IndexReport, IndexUpdated | None]:
        """Create, update or replace the content under the lock.

        Return the report and, after a change, the event.
        """
        content = content_dir(self._index_dir)
        with storage_errors(self._index_dir):
            starts_over = must_be_deleted(content)
        if starts_over:
            delete_all_content(self._index_dir)
            request.workers.start()
            return self._run(self._index_dir, request)
        if rebuild == "all":
            return self._replace(request, None, may_continue=False)
        has_other_settings = self._state.has_other_settings(self._setup.fingerprint)
        if not has_other_settings:
            try:
                result = self._run(content, request)
            except IndexStorageError:
                if rebuild != "repair":
                    raise
            else:
                # Not earlier: if the content is damaged, a killed repair can be continued.
                delete_other_content(self._index_dir)
                return result
        from rootle.ingest.pipeline import CONTINUING, REBUILDING, REPAIRING

        unfinished = find_unfinished(self._index_dir, self._setup.fingerprint)
        reason = REBUILDING if has_other_settings else REPAIRING
        _LOG.warning(CONTINUING if unfinished else reason)
        return self._replace(request, unfinished, may_continue=True)

    def _replace(
        self, request: UpdateRequest, unfinished: Path | None, *, may_continue: bool
    ) -> tuple[IndexReport, IndexUpdated | None]:
        """Write new content next to the current content; continue `unfinished` content, if any."""
        delete_other_content(self._index_dir, keep=unfinished)
        self._warn_about_other_sources()
        request.workers.start()
        write = partial(self._rebuild, request)
        return self._replacement.replace(write, unfinished=unfinished, may_continue=may_continue)

    def delete(self) -> None:
        """Delete the content of the index, here and on search servers."""
        self._replacement.delete()

    def set_permissions(self) -> None:
        """Make all files as private as configured, including those that older versions wrote."""
        set_tree_modes(self._index_dir, shared_dir_mode(self._setup.config.index_sharing))
        if os.path.isdir(self._index_dir / WATCH_FOLDER):
            set_tree_modes(self._index_dir / WATCH_FOLDER, PRIVATE_DIR)

    def _warn_about_other_sources(self) -> None:
        """Warn about sources that this process does not have: a rebuild loses their documents."""
        try:
            counts = self._state.count_documents_of_others()
        except IndexStorageError:  # a rebuild repairs a damaged index
            return
        for name, count in counts.items():
            documents = "1 document" if count == 1 else f"{count:,} documents"
            self._setup.on_warning(
                f'the rebuilt index lacks {documents} of the source "{name}"; the program that has '
                "this source adds them again at its next search"
            )

    def _rebuild(
        self, request: UpdateRequest, content: Path, start_generation: int
    ) -> tuple[IndexReport, IndexUpdated | None]:
        result = self._run(content, request, start_generation=start_generation)
        self.set_permissions()
        return result

    def _run(
        self, content: Path, request: UpdateRequest, *, start_generation: int = 0
    ) -> tuple[IndexReport, IndexUpdated | None]:
        """Apply all changes to the given content. New content starts at `start_generation`."""
        from rootle.indexing.git_history.commit_date_update import update_commit_dates

        with (
            closing(open_database(content, create=True)) as connection,
            storage_errors(self._index_dir),
        ):
            manifest = Manifest(connection)
            self._keep_generations_in_order(connection, manifest, start_generation)
            pipeline = self._open_pipeline(content, connection, request.workers)
            before = manifest.generation()
            dates_due = bool(manifest.value(DATES_DUE))  # True if the last run was interrupted
            self._prepare_content(content, manifest)
            only = request.only
            if pipeline.clear_if_incompatible() or not manifest.value("updated_at"):
                only = ()  # the index may lack the other files
            plan, only = self._plan(manifest, only)
            report = pipeline.run(plan, request.on_progress)
            if not self._setup.model.is_table:
                backfill = self._open_backfill()
                report = backfill.embed_first(
                    content, connection, report, embed_all=request.complete
                )
            if not self._setup.has_commit_dates:
                return report, update_since(before, plan, manifest)
            with write_transaction(connection):
                changed = dates_due or not plan.is_empty
                dated = () if dates_due else only
                root = self._setup.root
                update_commit_dates(root, connection, content_changed=changed, only=dated)
            return report, update_since(before, plan, manifest)

    def _keep_generations_in_order(
        self, connection: sqlite3.Connection, manifest: Manifest, start: int
    ) -> None:
        """Raise the generation to `start`, or above the generations of a lost database."""
        current = max(start, manifest.generation())
        if current < (notified_generation(self._index_dir) or 0):
            # The database was deleted, or replaced by an older one.
            current = unused_generation(self._index_dir)
        if current > manifest.generation():
            with write_transaction(connection):
                manifest.raise_generation(current)

    def _open_pipeline(
        self, content: Path, connection: sqlite3.Connection, workers: PrestartedWorkers
    ) -> Pipeline:
        from rootle.ingest.pipeline import IngestSetup, Pipeline

        # Content that will replace the current content cannot be searched until it is complete, so
        # "first run" does not apply to it. "always" does, so that little is lost if the process is
        # killed.
        is_current = content == content_dir(self._index_dir)
        in_stages = self._setup.in_stages
        setup = IngestSetup(
            self._setup.sources,
            content,
            chunk_limits(self._setup.config),
            self._setup.model,
            self._setup.open_embedder,
            self._setup.fingerprint,
            workers,
            self._setup.config.secret_exceptions,
            in_stages=in_stages if is_current or in_stages == "always" else "never",
        )
        return Pipeline(setup, connection)

    def _prepare_content(self, content: Path, manifest: Manifest) -> None:
        stored = manifest.value("fingerprint")
        if stored is None:
            # A new database starts with generation 0. Derived indexes that an earlier database left
            # may have the same generation.
            delete_derived(content)
        if stored != self._setup.fingerprint:
            self._setup.open_embedder()  # a missing model must fail before the old index is deleted

    def _plan(self, manifest: Manifest, only: Collection[str]) -> tuple[Plan, Collection[str]]:
        """Return the plan, and the files to which it is limited: () if it covers all files."""
        plan = plan_documents(self._setup.files, only, manifest.files_at(only)) if only else None
        if plan is not None:
            return plan, only
        return plan_sources(self._setup.sources, manifest.files(), manifest.value), ()
