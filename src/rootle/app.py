"""The public API: search a folder, read its files and maintain its index."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rootle.config.fields import Config
from rootle.container import Container
from rootle.errors import ConfigError, IndexMissingError, IndexStorageError
from rootle.indexing.events import Subscriptions
from rootle.serialization.json import apply_filters
from rootle.serialization.revision_filter import split_revision
from rootle.storage.paths import default_index_dir, delete_search_state
from rootle.types import (
    FileOutline,
    Filters,
    ImpactAnswer,
    IndexCoverage,
    IndexReport,
    IndexStatus,
    IndexUpdated,
    Passage,
    ProgressCallback,
    RemovalAnswer,
    SearchQuery,
    SearchResponse,
    SymbolAnswer,
    SymbolAspect,
    TextChunk,
    WarningCallback,
    WhyAnswer,
    ignore_progress,
    ignore_warning,
)

if TYPE_CHECKING:
    from rootle.indexing.watch.watch_service import WatchService
    from rootle.ingest.plan import Plan
    from rootle.memory.user_memory import UserMemory
    from rootle.sources.source import Source
    from rootle.web.fallback import WebSearch
    from rootle.web.fenced_page_reader import PageReader

# Attempts of a search while other threads rebuild or delete the index.
_MAX_ATTEMPTS: Final = 5
# The path of a file in an answer about an earlier version.
_VERSION: Final = re.compile(r"([0-9a-f]{12,64}):.+", re.DOTALL)


def open_app(
    root: str | os.PathLike[str] = ".",
    *,
    index_dir: str | os.PathLike[str] | None = None,
    config: Config | None = None,
    on_warning: WarningCallback | None = None,
    initial_index_timeout_s: float | None = None,
    sources: Sequence[Source] = (),
) -> App:
    """Return an app for a folder. Nothing is read or written until a method is called.

    `on_warning` receives messages about delays and degradation. `initial_index_timeout_s` limits
    how long a query waits for the first index. After that, the query searches the part that is
    already indexed, and the response says so. The documents of `sources` are indexed in addition to
    the files of the folder.
    """
    folder = Path(os.path.abspath(root))
    index = Path(os.path.abspath(index_dir)) if index_dir is not None else default_index_dir(folder)
    return App(
        folder,
        index,
        config or Config(),
        on_warning or ignore_warning,
        initial_index_timeout_s=initial_index_timeout_s,
        sources=sources,
    )


class App:
    """Searches one folder and maintains its index. Thread-safe."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        on_warning: WarningCallback,
        *,
        initial_index_timeout_s: float | None = None,
        sources: Sequence[Source] = (),
    ) -> None:
        self.root = root
        self.index_dir = index_dir
        self.config = config
        self._on_warning = on_warning
        self._may_search_unfinished = initial_index_timeout_s is not None
        self._lock = threading.RLock()
        self._watch_service: WatchService | None = None
        self._subscriptions = Subscriptions(index_dir, lambda: self._container.indexer().snapshot())
        self._container = Container(
            root,
            index_dir,
            config,
            sources,
            on_warning=on_warning,
            on_commit=self._subscriptions.publish_own_update,
            initial_index_timeout_s=initial_index_timeout_s,
        )

    def search(
        self,
        query: SearchQuery | str,
        filters: Filters | Mapping[str, Any] | None = None,
        *,
        explain: bool = False,
        context: bool = False,
        budget: int | None = None,
        exclude: Sequence[str] = (),
        at: str | None = None,
    ) -> SearchResponse:
        """Search the folder. If a check for changes is due, update the index first.

        `context` adds the surrounding code to each result. `budget` is the maximum number of tokens
        in the contexts of all results together. `exclude` lists lines to leave out of the contexts,
        as "path:start-end".

        `at` is a hash, tag, branch or date: then the files of that commit are searched, and the
        index of the commit is created first if there is none.

        Raises QueryError for an invalid query or an unknown revision, IndexStorageError if there is
        no index and none can be built, and SearchUnavailableError if neither full-text search nor
        vector search responds.
        """
        query = apply_filters(query, filters)
        if context or budget is not None or exclude:
            budget = query.budget if budget is None else budget
            query = replace(query, context=True, budget=budget, exclude=(*query.exclude, *exclude))
        query = split_revision(query if at is None else replace(query, at=at))
        self.check(query)
        if query.at is not None:
            search = self._container.history().revision_search()
            return search.search(query, query.at, explain=explain)
        refresher = self._container.refresher()
        for _ in range(_MAX_ATTEMPTS if self.config.enable_indexing else 0):
            replacement_count = refresher.replacement_count
            try:
                return self._search(query, explain=explain)
            except IndexMissingError:
                # The index was deleted after the last check.
                refresher.invalidate()
            except IndexStorageError:
                # If another thread is rebuilding the index, the next attempt waits for it.
                if refresher.replacement_count == replacement_count:
                    raise
        return self._search(query, explain=explain)

    def read(self, source: str) -> Passage:
        """Return lines of a file or a commit.

        `source` is "path", "path:120", "path:120-180", "path#heading", "path#definition" or a
        commit hash. The file need not be indexed yet. Raises SourceError for a file that does not
        exist, is excluded from the index or is outside the folder; the message suggests an
        alternative.
        """
        from rootle.ingest.source_refs import read_source

        return read_source(source, self._container.documents())

    def why(self, place: str, *, limit: int | None = None) -> WhyAnswer:
        """Return why lines of a file are there: commits, documents and memories about them.

        `place` is "path:120", "path:10-20" or "path#function". At most `limit` commits are
        returned, 5 by default, the one that explains the lines best first. Documents are searched
        only if there is an index. Raises SourceError if there is no such place, and QueryError if
        the limit is out of range.
        """
        from rootle.provenance.explain import explain_place
        from rootle.provenance.mentions import add_mentions, list_names

        found, answer = explain_place(place, self._container.documents(), limit)
        memories = self._container.memories_about([found.whole.source], list_names(found))
        answer = replace(answer, memories=memories)
        if not self._container.indexer().state.has_complete_index():
            return answer
        find = partial(self._search_files, explain=False)
        return add_mentions(found, answer, self._container.indexer().snapshot, find)

    def outline(self, path: str) -> FileOutline:
        """Return the lines of a document, as they were last indexed, and its definitions.

        Raises SourceError if the document is not indexed.
        """
        from rootle.ingest.file_outline import read_file_outline

        if found := _VERSION.fullmatch(path):
            return (
                self._container.history()
                .revision_search()
                .read_index(found[1], lambda index, place: read_file_outline(path, index, place))
            )
        return read_file_outline(path, self._container.indexer().snapshot())

    def definition_places(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return "path:line" for each name that has exactly one definition in the index."""
        from rootle.search.results.definition_places import find_definition_places

        return find_definition_places(self._container.indexer().snapshot(), names)

    def symbols(
        self,
        name: str,
        aspect: SymbolAspect = "definitions",
        *,
        limit: int | None = None,
        cursor: str | None = None,
        at: str | None = None,
    ) -> SymbolAnswer:
        """Return the definitions of a name, and its uses if `aspect` asks for them.

        `name` may be qualified: "Class.method", "module.function", "ns::Class". At most `limit`
        uses are returned, 30 by default. To get the next ones, pass `next_cursor` of the answer as
        `cursor`. The index is updated first if a check for changes is due. `at` is a hash, tag,
        branch or date, whose files are searched instead of those in the folder.

        Raises QueryError for an invalid name, limit or revision, and StaleCursorError if the cursor
        comes from another request or the index has changed since then.
        """
        from rootle.search.symbols.symbol_request import SymbolRequest, check_request

        request = SymbolRequest(name.strip(), aspect, limit=limit, cursor=cursor)
        check_request(request)
        if at is not None:
            from rootle.history.revision_search import add_symbol_place

            finder = self._container.symbol_finder()
            return (
                self._container.history()
                .revision_search()
                .read_index(
                    at, lambda index, place: add_symbol_place(finder.find(index, request), place)
                )
            )
        self._container.refresher().refresh(ignore_progress, fully=False)
        return self._container.symbol_finder().find(self._container.indexer().snapshot(), request)

    def gone(self, query: str, limit: int | None = None) -> RemovalAnswer:
        """Return code that no longer exists, each with the commit that removed it, best first.

        `query` describes the code, names a definition ("retry_404"), or quotes text of the code.
        At most `limit` removals are returned, 5 by default. Code that was moved or renamed is not
        gone. The index and the index of the commits are updated first.

        Raises QueryError for an invalid query or limit, and if no commits can be searched.
        """
        from rootle.history.removals import find_removals

        self._container.refresher().refresh(ignore_progress, fully=False)
        indexer = self._container.indexer()
        return find_removals(
            query, limit, self._container.history().commit_search, indexer.snapshot
        )

    def impact(
        self, change: str | Sequence[str] | None = None, limit: int | None = None
    ) -> ImpactAnswer:
        """Return the files that probably change together with others, most probable first.

        `change` is a list of paths, a path, the text of a diff, or a task in words, for which the
        search finds the files. If it is None, the uncommitted changes of the work tree are used. At
        most `limit` files are returned, 10 by default. The index and the index of the commits are
        updated first.

        Raises QueryError for an invalid limit, if nothing has changed, and if no commits can be
        searched.
        """
        from rootle.history.impact import find_impact
        from rootle.history.impact_seeds import find_seeds

        self._container.refresher().refresh(ignore_progress, fully=False)
        indexer = self._container.indexer()
        seeds = find_seeds(change, indexer.snapshot(), self._list_changed, self._search_files_of)
        return find_impact(seeds, limit, self._container.history().commit_search, indexer.snapshot)

    def _list_changed(self) -> Sequence[str]:
        from rootle.sources.git.repository import list_changed_files

        return sorted(list_changed_files(self.root))

    def _search_files_of(self, task: str, count: int) -> Sequence[str]:
        query = SearchQuery(task, limit=count)
        return [found.file_path for found in self._search_files(query, explain=False).results]

    def chunks(self, path: str) -> tuple[TextChunk, ...]:
        """Return the chunks of an indexed file, with their vectors.

        The index is updated first if a check for changes is due. A vector is None while its
        embedding is pending. Raises SourceError if the file is not indexed.
        """
        from rootle.indexing.stored_chunks import read_chunks

        self.refresh()
        return read_chunks(path, self._container.indexer().snapshot())

    def check(self, query: SearchQuery) -> None:
        """Raise QueryError for an invalid query, without building an index."""
        from rootle.search.request import check_query

        check_query(query, self.config)

    def refresh(self, on_progress: ProgressCallback | None = None) -> bool:
        """Update the index if a check for changes is due; return False if it may be stale.

        The index may be stale if updates are paused, if another process does not finish writing it
        in time, or if it cannot be written. Queries then use the existing index.
        """
        with self._container.prestart_workers():
            refresher = self._container.refresher()
            return refresher.refresh(on_progress or ignore_progress, fully=True) is None

    def index(
        self, on_progress: ProgressCallback | None = None, *, rebuild: bool = False
    ) -> IndexReport:
        """Update or rebuild the index now. If another process is writing it, wait for it first."""
        self._check_may_write()
        with self._container.prestart_workers(), self._container.refresher().replace_index():
            indexer = self._container.indexer()
            report = indexer.update(
                on_progress or ignore_progress,
                timeout_s=-1,
                rebuild=rebuild,
                complete=True,
                update_remotes=False,
            )
        # This is outside the block above, so that queries are answered while search servers are
        # updated.
        indexer.update_remotes()
        return report

    def index_history(self, on_progress: ProgressCallback | None = None) -> None:
        """Index all commits that `maxHistoryCommits` allows, and wait until this is done.

        Otherwise, the first question about the past starts this in the background. Raises
        IndexStorageError if the folder is not in a git repository.
        """
        self._check_may_write()
        commits = self._container.history().commit_index()
        if commits is None:
            raise IndexStorageError(
                f"there are no commits to index: {self.root} is not in a git repository, or "
                "maxHistoryCommits is 0"
            )
        commits.update(on_progress or ignore_progress)

    def index_revision(self, name: str, on_progress: ProgressCallback | None = None) -> None:
        """Index the files of a hash, tag, branch or date, unless that is done already.

        A search does this too, without reporting progress. The last eight revisions that were
        searched are kept. Raises QueryError if there is no such commit.
        """
        indexes = self._container.history().revision_indexes()
        indexes.prepare(indexes.find(name), on_progress or ignore_progress)

    def plan(self) -> Plan:
        """Return the changes that `index` would apply."""
        return self._container.indexer().state.preview_work()

    def status(self) -> IndexStatus:
        """Return the status of the index without updating it."""
        from rootle.config.unused import unused_settings
        from rootle.indexing.status import read_status

        status = read_status(self._container.indexer())
        commits = self._container.history().commit_index()
        revisions = self._container.history().find_revision_indexes()
        return replace(
            status,
            unused_settings=unused_settings(self.config),
            history=None if commits is None else commits.status(),
            revisions=None if revisions is None else revisions.status(),
        )

    def clear(self) -> bool:
        """Delete the index, cached pages and the search log; return False if there was no index.

        The search log also contains the searches in other folders.
        """
        self._check_may_write()
        with self._container.refresher().replace_index():
            delete_search_state(self.index_dir)
            commits = self._container.history().commit_index()
            had_commits = commits is not None and commits.clear()
            revisions = self._container.history().find_revision_indexes()
            had_revisions = revisions is not None and revisions.clear()
            return self._container.indexer().clear() or had_commits or had_revisions

    def index_progress(self) -> tuple[int, int] | None:
        """Return the number of bytes that the first indexing run has read, and the total number.

        The run may be in any process. Returns None once the first index is complete.
        """
        return self._container.indexer().state.read_progress()

    def watch(self) -> WatchService:
        """Keep the index up to date until the returned service is stopped or its `with` ends.

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

        Returns whether a watcher has confirmed the command.
        """
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

    @property
    def memory(self) -> UserMemory:
        """The memories of the user.

        Raises ConfigError if `memoryStore` is empty.
        """
        return self._container.memory()

    @cached_property
    def web_engines(self) -> WebSearch:
        """The configured web search engines; creating them sends no request."""
        from rootle.web.factory import open_web_search

        return open_web_search(self.config)

    @cached_property
    def web_pages(self) -> PageReader:
        """The reader of web pages."""
        from rootle.web.factory import open_page_reader

        return open_page_reader(self.config)

    def close(self) -> None:
        """Close files and stop threads. The app can be used again and reopens them."""
        with self._lock:
            service, self._watch_service = self._watch_service, None
        self._subscriptions.close()
        if service is not None:
            service.stop()
        self._container.close()

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        from rootle.history.combined_search import CombinedSearch

        history = self._container.history()
        combined = CombinedSearch(
            self.config, history.commit_search, history.existing_commit_search
        )
        return combined.search(query, partial(self._search_files, explain=explain), explain=explain)

    def _search_files(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        staleness = self._container.refresher().refresh(ignore_progress, fully=False)
        self._subscriptions.publish_updates_of_others()
        coverage = self._measure_coverage()
        is_stale = staleness is not None
        response = self._container.agent().search(query, explain=explain, stale=is_stale)
        embedding = ("embedding",) if self._container.model_choice().note else ()
        partial = ("partial",) if coverage is not None else ()
        return replace(
            response,
            degraded=(*embedding, *partial, *response.degraded),
            staleness=staleness,
            coverage=coverage,
        )

    def _measure_coverage(self) -> IndexCoverage | None:
        """Return the searchable part of an unfinished index; None if it is complete."""
        if not self._may_search_unfinished or self._container.refresher().has_index:
            return None
        from rootle.indexing.status import measure_coverage

        return measure_coverage(self._container.indexer())

    def _send_command(self, *, is_paused: bool = False, min_interval_s: float = 0.0) -> bool:
        return self._container.refresher().send_command(is_paused, min_interval_s)

    def _check_may_write(self) -> None:
        if not self.config.enable_indexing:
            raise ConfigError(
                f"enableIndexing is false, so the index at {self.index_dir} is read-only; "
                "set enableIndexing to true to write it"
            )
