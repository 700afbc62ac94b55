"""The part of the public API that maintains the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rootle.app.base import AppBase
from rootle.errors import IndexStorageError, QueryError
from rootle.storage.paths import delete_search_state
from rootle.types import (
    DependencyStatus,
    IndexReport,
    IndexStatus,
    IndexUpdated,
    ProgressCallback,
    TextChunk,
    ignore_progress,
)

if TYPE_CHECKING:
    from rootle.indexing.watch.watch_service import WatchService
    from rootle.ingest.plan import Plan

_MAX_INTERVAL_S: Final = 86_400


class IndexApi(AppBase):
    """Updates, watches, describes and deletes the index."""

    def refresh(self, on_progress: ProgressCallback | None = None) -> bool:
        """Update the index if a check for changes is due; return whether it is now current.

        An index that is not current is unfinished if another process is building it for the first
        time. It may be stale if updates are paused, if another process does not finish writing it
        in time, or if it cannot be written. Queries then use the existing index.
        """
        with self._container.prestart_workers():
            refresher = self._container.refresher()
            staleness = refresher.refresh(on_progress or ignore_progress, fully=True)
            return staleness is None and not refresher.is_unfinished

    def index(
        self, on_progress: ProgressCallback | None = None, *, rebuild: bool = False
    ) -> IndexReport:
        """Update or rebuild the index now. First, wait for any other process that is writing it."""
        self._check_may_write()
        with self._container.prestart_workers(), self._container.refresher().replace_index():
            indexer = self._container.indexer()
            report = indexer.update(
                on_progress or ignore_progress,
                timeout_s=-1,
                rebuild="all" if rebuild else "outdated",
                complete=True,
                update_remotes=False,
            )
        # Queries wait until the block above ends. Updating search servers and images is slow, so it
        # is done after the block.
        indexer.update_remotes()
        indexer.embed_images()
        return report

    def index_dependencies(self, on_progress: ProgressCallback | None = None) -> DependencyStatus:
        """Index the installed packages on which the project depends.

        A search with `in:deps` does this too, without reporting progress. Only changed files are
        read. Raises QueryError if `dependencies` is off, or if the project lists no packages or
        none of them is installed, and IndexStorageError if the index cannot be written.
        """
        self._check_may_write()
        index = self._container.dependencies().index()
        index.prepare(on_progress or ignore_progress, is_search=False)
        status = index.status()
        if status is None:
            raise IndexStorageError("the index of the packages was deleted just now; try again")
        return status

    def plan(self) -> Plan:
        """Return the changes that `index` would apply."""
        return self._container.indexer().state.preview_work()

    def status(self) -> IndexStatus:
        """Return the status of the index without updating it."""
        from rootle.config.unused import unused_settings
        from rootle.indexing.status import read_status

        status = read_status(self._container.indexer())
        history = self._container.history()
        revisions = history.find_revision_indexes()
        dependencies = self._container.dependencies().existing_index()
        images = self._container.images()
        return replace(
            status,
            unused_settings=unused_settings(self.config),
            history=history.commit_status(),
            revisions=None if revisions is None else revisions.status(),
            dependencies=None if dependencies is None else dependencies.status(),
            external=(
                self._container.external().sources().status()
                if self._container.has_external()
                else None
            ),
            images=None if images is None else images.status(),
        )

    def clear(self, *, sources: bool = False) -> bool:
        """Delete all indexes, the cached results, the search log and the cached web pages.

        The indexes are those of the folder, its commits, earlier versions, packages and added
        sources. If `sources` is true, the list and the text of the added sources are also deleted.
        It may be impossible to read this text again. All folders share the search log and the
        cached web pages. Return False if there was no index to delete.
        """
        from rootle.web.url_cache import clear_web_cache

        self._check_may_write()
        with self._container.refresher().replace_index():
            delete_search_state(self.index_dir)
            history = self._container.history()
            # A list, because `any` would stop after the first index that was deleted.
            had_commits = [index.clear() for index in history.commit_indexes()]
            revisions = history.find_revision_indexes()
            had_revisions = revisions is not None and revisions.clear()
            dependencies = self._container.dependencies().existing_index()
            self._container.dependencies().close()
            had_dependencies = dependencies is not None and dependencies.clear()
            had_external = self._container.has_external() and (
                self._container.external().sources().clear(keep=not sources)
            )
            had_others = any(had_commits) or had_revisions or had_dependencies or had_external
            was_deleted = self._container.indexer().clear() or had_others
            clear_web_cache()
            return was_deleted

    def chunks(self, path: str) -> tuple[TextChunk, ...]:
        """Return the chunks of an indexed file, with their vectors.

        The index is updated first if a check for changes is due. A vector is None while its
        embedding is pending. Raises SourceError if the file is not indexed.
        """
        from rootle.indexing.stored_chunks import read_chunks

        self.refresh()
        return read_chunks(path, self._container.indexer().snapshot())

    def index_progress(self) -> tuple[int, int] | None:
        """Return the number of bytes that the first indexing run has read, and the total number.

        The run may be in any process. Returns None once the first index is complete.
        """
        return self._container.indexer().state.read_progress()

    def watch(self) -> WatchService:
        """Keep the index up to date until the returned service is stopped or its `with` block ends.

        Raises UnavailableError if another process is already watching the folder, or if the system
        allows no more watches.
        """
        from rootle.indexing.watch.watch_service import WatchService

        self._check_may_write()
        with self._lock:
            if self._watch_service is not None:
                self._watch_service.stop()
            debounce_s = self.config.watch_debounce_ms / 1000
            service = WatchService(self._container.indexer(), debounce_s, self._on_warning)
            self._watch_service = service.start()
            return service

    def subscribe(self, subscriber: Callable[[IndexUpdated], object]) -> Callable[[], None]:
        """Call a function after each new generation of the index, whichever process writes it.

        The function should return quickly. It is called on the thread that updated the index or,
        for an update by another process, on a thread that waits for such updates. If the system
        cannot report updates by other processes, they are noticed during the next search. If the
        function raises an error, the error is logged. Returns a function that ends the
        subscription.
        """
        return self._subscriptions.add(subscriber)

    def pause_indexing(self) -> bool:
        """Stop updating the index until `resume_indexing` is called.

        Meanwhile, responses report how stale the index is.

        Returns whether a watcher, in this process or another, has confirmed the command. A watcher
        that starts later is not paused.
        """
        return self._send_command(is_paused=True)

    def throttle_indexing(self, min_interval_s: float) -> bool:
        """Update the index at most once per interval, until `resume_indexing` is called.

        The interval is at most a day. Returns whether a watcher has confirmed the command. Raises
        QueryError for an invalid interval.
        """
        is_number = isinstance(min_interval_s, int | float) and not isinstance(min_interval_s, bool)
        if not is_number or not 0 <= min_interval_s <= _MAX_INTERVAL_S:
            raise QueryError(
                f"min_interval_s is {min_interval_s!r}; give a number of seconds from 0 to "
                f"{_MAX_INTERVAL_S:,}",
                parameter="min_interval_s",
            )
        return self._send_command(min_interval_s=min_interval_s)

    def resume_indexing(self) -> bool:
        """End the effect of `pause_indexing` or `throttle_indexing`; index pending changes at once.

        Returns whether a watcher has confirmed the command.
        """
        return self._send_command()

    @property
    def buffered_index_operations(self) -> int:
        """The number of changed files that the watcher of this app has not indexed yet."""
        return 0 if self._watch_service is None else self._watch_service.waiting

    def _send_command(self, *, is_paused: bool = False, min_interval_s: float = 0.0) -> bool:
        return self._container.refresher().send_command(is_paused, min_interval_s)
