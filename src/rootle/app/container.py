"""Create the components of one app from its configuration, each on first use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as AnyCollection
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.app.configured_models import ComponentSetup, ConfiguredModels
from rootle.config.fields import EMBEDDED, Config
from rootle.errors import IndexStorageError, RootleError
from rootle.storage.paths import delete_unmasked_state, result_cache_dir, search_log_path
from rootle.types import EXTERNAL_URI, IndexUpdated, Memory, WarningCallback

if TYPE_CHECKING:
    from rootle.app.dependency_components import DependencyComponents
    from rootle.app.external_components import ExternalComponents
    from rootle.app.history_components import HistoryComponents
    from rootle.app.image_components import ImageComponents
    from rootle.embed.model_choice import ModelChoice
    from rootle.federation.collection import Collection
    from rootle.index.local.snapshot import Snapshot
    from rootle.index.reader import IndexReader
    from rootle.indexing.indexer import Indexer
    from rootle.indexing.refresh import IndexRefresher
    from rootle.ingest.file_outline import FileOutlines
    from rootle.ingest.source_refs import DocumentSet, OutsideDocument
    from rootle.ingest.workers.worker_process import PrestartedWorkers
    from rootle.memory.user_memory import UserMemory
    from rootle.search.agent import SearchAgent
    from rootle.search.results.memory_results import MemoryResults
    from rootle.search.search_trace import SearchLogFile
    from rootle.search.symbols.finder import SymbolFinder
    from rootle.sources.guarded_source import GuardedSource
    from rootle.sources.source import Source


class Container(ConfiguredModels):
    """The components of one app. Thread-safe."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        sources: Sequence[Source],
        *,
        on_warning: WarningCallback,
        on_commit: Callable[[IndexUpdated], None],
        initial_index_timeout_s: float | None,
        searches_unfinished: bool,
    ) -> None:
        """`sources` are indexed in addition to the files of `root`.

        `on_commit` receives each new generation that this app writes.
        """
        super().__init__(config, on_warning)
        self._root = root
        self._index_dir = index_dir
        self._setup = ComponentSetup(root, index_dir, config, self, on_warning)
        self._sources: tuple[GuardedSource, ...] = ()
        if sources != ():
            from rootle.sources.guarded_source import guard_sources

            self._sources = guard_sources(sources, on_warning)
        self._on_commit = on_commit
        self._initial_index_timeout_s = initial_index_timeout_s
        self._searches_unfinished = searches_unfinished
        self._prestarted: PrestartedWorkers | None = None
        self._indexer: Indexer | None = None
        self._agent: SearchAgent | None = None
        self._refresher: IndexRefresher | None = None
        self._memory: UserMemory | None = None
        self._symbol_finder: SymbolFinder | None = None
        self._outlines: FileOutlines | None = None
        self._history: HistoryComponents | None = None
        self._dependencies: DependencyComponents | None = None
        self._external: ExternalComponents | None = None
        self._images: ImageComponents | None = None
        self._search_log: SearchLogFile | None = None

    def close(self) -> None:
        """Close all components; they are created again when they are needed."""
        if self._refresher is not None:
            self._refresher.close()
        with self._lock:
            components = (self._agent, self._indexer, self._memory, self._history)
            for component in (*components, self._dependencies, self._external):
                if component is not None:
                    component.close()
            self.close_expansion()
            if self._prestarted is not None:
                self._prestarted.end()
            self._refresher = self._agent = self._indexer = self._memory = None
            self._history = self._dependencies = self._external = self._images = None

    @contextmanager
    def prestart_workers(self) -> Iterator[None]:
        """Start the workers early for a large first index; end the unused ones after the `with`.

        The workers then import their modules while this process imports its own.
        """
        from rootle.index.local.index_dir import is_new

        workers = self._prestarted_workers()
        may_write = self._config.enable_indexing
        try:
            if may_write and is_new(self._index_dir) and os.path.isdir(self._root):
                workers.start()
            yield
        finally:
            workers.end()

    def indexer(self) -> Indexer:
        """Return the writer of the index."""
        from rootle.indexing.content_writer import IndexSetup
        from rootle.indexing.indexer import Indexer
        from rootle.plugins.registry import find_plugins

        with self._lock:
            if self._indexer is None:
                delete_unmasked_state()
                for reason in find_plugins(self._config.plugins).broken.values():
                    self._on_warning(reason)
                setup = IndexSetup(
                    self._root,
                    self._index_dir,
                    self._config,
                    self._open_sources(),
                    choose_model=self.model_choice,
                    open_embedder=self.embedder,
                    on_warning=self._on_warning,
                    in_stages="first run, rarely"
                    if self._initial_index_timeout_s is None
                    else "first run",
                    searches_unfinished=self._searches_unfinished,
                    images=None if (images := self.images()) is None else images.embedding,
                )
                self._indexer = Indexer(
                    setup, on_commit=self._on_commit, prestarted=self._prestarted_workers()
                )
            return self._indexer

    def refresher(self) -> IndexRefresher:
        """Return the component that keeps the index up to date before queries."""
        from rootle.indexing.refresh import IndexRefresher

        with self._lock:
            if self._refresher is None:
                self._refresher = IndexRefresher(
                    self.indexer(),
                    self._config,
                    self._on_warning,
                    initial_index_timeout_s=self._initial_index_timeout_s,
                    searches_unfinished=self._searches_unfinished,
                )
            return self._refresher

    def agent(self) -> SearchAgent:
        """Return the search pipeline, which answers each query from the newest snapshot."""
        from rootle.rank.rankers.registry import configured_ranker
        from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent

        with self._lock:
            if self._agent is None:
                indexer, choice = self.indexer(), self.model_choice()
                remote = indexer.remote_indexes
                self._agent = open_agent(
                    SearchedIndex(
                        indexer.snapshot,
                        self.embedder,
                        model=choice.fingerprint,
                        root=self._root,
                        dense=remote.dense if remote is not None else None,
                        sparse=remote.sparse if remote is not None else None,
                        cache_dir=result_cache_dir(self._index_dir)
                        if self._config.cache_on_disk
                        else None,
                        list_changed=self.history().list_changed,
                        explain_exclusions=self._explain_exclusions,
                    ),
                    replace(self._config, embedding_model_id=choice.model),
                    SearchFeatures(
                        reranker=self.open_reranker(),
                        expansion=self.query_expansion(),
                        ranker=configured_ranker(self._config),
                        memories=self._memory_results(),
                        open_symbols=self.symbol_finder,
                    ),
                    log=self.search_log(),
                )
            return self._agent

    def _explain_exclusions(self, paths: AnyCollection[str] | None = None) -> Mapping[str, str]:
        from rootle.sources.files.exclusion_reasons import explain_exclusions

        return explain_exclusions(os.path.realpath(self._root), paths)

    def history(self) -> HistoryComponents:
        """Return the components that answer questions about commits and earlier versions."""
        from rootle.app.history_components import HistoryComponents

        with self._lock:
            if self._history is None:
                self._history = HistoryComponents(
                    self._setup, self._open_revision_agent, self.query_expansion
                )
            return self._history

    def dependencies(self) -> DependencyComponents:
        """Return the components that search the packages that the project depends on."""
        from rootle.app.dependency_components import DependencyComponents

        with self._lock:
            if self._dependencies is None:
                self._dependencies = DependencyComponents(self._setup, self._snapshot)
            return self._dependencies

    def _open_revision_agent(
        self, open_index: Callable[[], IndexReader], config: Config, choice: ModelChoice
    ) -> SearchAgent:
        from rootle.rank.rankers.registry import configured_ranker
        from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent

        return open_agent(
            SearchedIndex(open_index, self.local_embedder, model=choice.fingerprint),
            replace(config, embedding_model_id=choice.model),
            SearchFeatures(
                reranker=self.open_reranker(),
                expansion=self.query_expansion(),
                ranker=configured_ranker(self._config),
                open_symbols=self.symbol_finder,
            ),
            log=self.search_log(),
        )

    def symbol_finder(self) -> SymbolFinder:
        """Return the component that finds the definitions and uses of a name."""
        from rootle.search.symbols.finder import SymbolFinder

        with self._lock:
            if self._symbol_finder is None:
                self._symbol_finder = SymbolFinder()
            return self._symbol_finder

    def outlines(self) -> FileOutlines:
        """Return the component that reads the lines and the definitions of indexed files."""
        from rootle.ingest.file_outline import FileOutlines

        with self._lock:
            if self._outlines is None:
                self._outlines = FileOutlines()
            return self._outlines

    def memory(self) -> UserMemory:
        """Return the memories of the user. Raise ConfigError if `memoryStore` is empty."""
        from rootle.memory.user_memory import open_memory

        with self._lock:
            if self._memory is None:
                self._memory = open_memory(
                    self._root, self._config, self.local_embedder, self._snapshot
                )
            return self._memory

    def collections(self) -> Mapping[str, Collection]:
        """Return the collections other than the project itself, keyed by their `in:` values."""
        from rootle.app.dependency_components import InstalledPackages
        from rootle.federation.collection import ExternalCollection
        from rootle.federation.memory_collection import MemoryCollection

        collections: dict[str, Collection] = {
            "web": ExternalCollection(self.has_external, lambda: self.external().search()),
            "memory": MemoryCollection(
                lambda topic, is_wanted: self.memory().recall(topic, is_wanted),
                self.history().find_date,
            ),
        }
        if self._config.dependencies != "off":
            collections["deps"] = InstalledPackages(self.dependencies())
        return collections

    def has_external(self) -> bool:
        """Return whether the user may have added sources, without opening them."""
        from rootle.index.local.index_dir import EXTERNAL_DIR

        return os.path.isdir(self._index_dir / EXTERNAL_DIR)

    def external(self) -> ExternalComponents:
        """Return the components for the sources that the user added."""
        from rootle.app.external_components import ExternalComponents

        with self._lock:
            if self._external is None:
                self._external = ExternalComponents(self._setup)
            return self._external

    def images(self) -> ImageComponents | None:
        """Return the components that embed images, or None if no server is configured."""
        if not self._config.image_embedding_endpoint:
            return None
        from rootle.app.image_components import ImageComponents

        with self._lock:
            if self._images is None:
                self._images = ImageComponents(self._setup, self._snapshot)
            return self._images

    def memories_about(self, paths: Sequence[str], names: AnyCollection[str]) -> tuple[Memory, ...]:
        """Return the memories about files or names; () if memories are disabled or unreadable."""
        from rootle.memory.factory import existence_check

        config = self._config
        if not (config.memory_store and config.include_memories and existence_check(config)()):
            return ()
        try:
            return self.memory().find_about(paths, names)
        except RootleError as error:
            self._on_warning(f"memories are not searched: {error}")
            return ()

    def search_log(self) -> SearchLogFile | None:
        """Return the log of searches, or None if the configuration disables it."""
        from rootle.search.search_trace import SearchLogFile

        if not self._config.search_log:
            return None
        with self._lock:
            if self._search_log is None:
                self._search_log = SearchLogFile(
                    search_log_path(),
                    with_query_text=self._config.search_log_query_text,
                    secret_exceptions=self._config.secret_exceptions,
                )
            return self._search_log

    def documents(self) -> DocumentSet:
        """Return the documents and commits that `App.read` can read."""
        from rootle.indexing.fingerprint import walk_rules
        from rootle.ingest.source_refs import DocumentSet

        def newest_snapshot() -> Snapshot | None:
            try:
                return self.indexer().snapshot()
            except IndexStorageError:
                return None

        def read_outside(reference: str) -> OutsideDocument | None:
            is_named = reference.startswith(EXTERNAL_URI)
            return self.external().read(reference) if is_named or self.has_external() else None

        rules = walk_rules(self._config, self._index_dir)
        return DocumentSet(self._root, rules, newest_snapshot, read_outside)

    def failed_sources(self) -> tuple[str, ...]:
        """Return the names of the sources whose documents could not be listed or read."""
        return tuple(source.name for source in self._sources if source.failure)

    def _open_sources(self) -> tuple[Source, ...]:
        from rootle.indexing.fingerprint import walk_rules
        from rootle.sources.files.file_source import FileSource

        return (FileSource(self._root, walk_rules(self._config, self._index_dir)), *self._sources)

    def _prestarted_workers(self) -> PrestartedWorkers:
        from rootle.ingest.workers.worker_process import PrestartedWorkers

        with self._lock:
            if self._prestarted is None:
                # If there are other sources, the amount of text is unknown.
                self._prestarted = PrestartedWorkers(None if self._sources else self._root)
            return self._prestarted

    def _memory_results(self) -> MemoryResults | None:
        config = self._config
        if not (config.memory_store and config.include_memories):
            return None
        from rootle.memory.factory import existence_check
        from rootle.search.results.memory_results import MemoryResults

        is_local = config.memory_store == EMBEDDED
        may_exist = existence_check(config)

        def find(text: str, paths: Sequence[str]) -> Sequence[Memory]:
            return self.memory().find_relevant(text, paths)

        return MemoryResults(find, config.memory_timeout_ms, may_exist, is_local=is_local)

    def _snapshot(self) -> Snapshot:
        return self.indexer().snapshot()
