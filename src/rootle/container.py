"""What an app is made of: every part by its configuration, opened when it is first needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.config.fields import EMBEDDED, Config
from rootle.storage.paths import result_cache_dir, search_log_path
from rootle.types import IndexUpdated, Memory

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.index.local.snapshot import Snapshot
    from rootle.indexing.indexer import Indexer
    from rootle.indexing.refresh import IndexRefresher
    from rootle.ingest.workers.worker_process import PrestartedWorkers
    from rootle.memory.user_memory import UserMemory
    from rootle.protocols import Embedder, Reranker
    from rootle.search.agent import SearchAgent
    from rootle.search.cache.disk_cache import DiskCache
    from rootle.search.results.memory_results import MemoryResults
    from rootle.search.search_log import SearchLogFile

WarningCallback = Callable[[str], None]


class Container:
    """The parts of one app, each made once. Safe to use from several threads."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        *,
        on_warning: WarningCallback,
        on_commit: Callable[[IndexUpdated], None],
        initial_index_timeout_s: float | None,
    ) -> None:
        """`on_commit` is told of each new generation that is written here."""
        self._root = root
        self._index_dir = index_dir
        self._config = config
        self._on_warning = on_warning
        self._on_commit = on_commit
        self._initial_index_timeout_s = initial_index_timeout_s
        self._lock = threading.RLock()
        self._early: PrestartedWorkers | None = None
        self._indexer: Indexer | None = None
        self._chosen: ModelChoice | None = None
        self._embedder: Embedder | None = None
        self._agent: SearchAgent | None = None
        self._freshness: IndexRefresher | None = None
        self._memory: UserMemory | None = None

    def close(self) -> None:
        """Let go of files and threads; what is asked for afterwards is made anew."""
        if self._freshness is not None:
            self._freshness.close()
        with self._lock:
            for part in (self._agent, self._indexer, self._memory):
                if part is not None:
                    part.close()
            if self._early is not None:
                self._early.end()
            self._freshness = self._agent = self._indexer = self._memory = None

    @contextmanager
    def head_start(self) -> Iterator[None]:
        """Before an index is made for the first time: processes that will read files load already.

        They do while this process loads what it needs itself.
        """
        from rootle.index.local.index_dir import is_new

        early = self._early_workers()
        may_write = self._config.enable_indexing
        try:
            if may_write and is_new(self._index_dir) and os.path.isdir(self._root):
                early.start()
            yield
        finally:
            early.end()

    def indexer(self) -> Indexer:
        """What keeps the index, and gives its newest snapshot."""
        from rootle.indexing.indexer import Indexer
        from rootle.plugins.registry import find_plugins

        with self._lock:
            if self._indexer is None:
                for reason in find_plugins(self._config.plugins).broken.values():
                    self._on_warning(reason)
                self._indexer = Indexer(
                    self._root,
                    self._index_dir,
                    self._config,
                    choose_model=self.model_choice,
                    open_embedder=self.embedder,
                    on_warning=self._on_warning,
                    on_commit=self._on_commit,
                    early=self._early_workers(),
                    shows_unfinished=self._initial_index_timeout_s is not None,
                )
            return self._indexer

    def freshness(self) -> IndexRefresher:
        """What decides before an answer whether the index must be brought up to date."""
        from rootle.indexing.refresh import IndexRefresher

        with self._lock:
            if self._freshness is None:
                self._freshness = IndexRefresher(
                    self.indexer(),
                    self._config,
                    self._on_warning,
                    initial_index_timeout_s=self._initial_index_timeout_s,
                )
            return self._freshness

    def agent(self) -> SearchAgent:
        """What answers from the newest snapshot."""
        from rootle.rank.rankers.registry import chosen_ranker
        from rootle.search.agent import SearchAgent

        with self._lock:
            if self._agent is None:
                upkeep, choice = self.indexer(), self.model_choice()
                servers = upkeep.servers
                self._agent = SearchAgent(
                    upkeep.snapshot,
                    self.embedder,
                    replace(self._config, embedding_model_id=choice.model),
                    model=choice.fingerprint,
                    log=self.search_log(),
                    root=self._root,
                    dense=servers.dense if servers is not None else None,
                    sparse=servers.sparse if servers is not None else None,
                    reranker=self._reranker(),
                    stored=self._stored_answers(),
                    ranker=chosen_ranker(self._config),
                    memory=self._memory_beside(),
                )
            return self._agent

    def memory(self) -> UserMemory:
        """What was told earlier. Raises ConfigError where `memoryStore` is empty."""
        from rootle.memory.user_memory import open_memory

        with self._lock:
            if self._memory is None:
                self._memory = open_memory(self._root, self._config, self._table, self._snapshot)
            return self._memory

    def model_choice(self) -> ModelChoice:
        """The model that serves, which need not be the one that was configured."""
        if self._chosen is not None:
            return self._chosen
        from rootle.embed.factory import choose_model

        with self._lock:
            if self._chosen is None:
                self._chosen = choose_model(self._config)
                if self._chosen.remark:
                    self._on_warning(self._chosen.remark)
            return self._chosen

    def embedder(self) -> Embedder:
        """That model, opened."""
        # Without the lock: a search that is under way does not wait for another thread's indexing.
        if self._embedder is not None:
            return self._embedder
        from rootle.embed.factory import open_model

        with self._lock:
            if self._embedder is None:
                self._embedder = open_model(self.model_choice(), self._config)
            return self._embedder

    def search_log(self) -> SearchLogFile | None:
        """Where searches are logged; None where they are not."""
        from rootle.search.search_log import SearchLogFile

        if not self._config.search_log:
            return None
        return SearchLogFile(search_log_path(), with_query_text=self._config.search_log_query_text)

    def _early_workers(self) -> PrestartedWorkers:
        from rootle.ingest.workers.worker_process import PrestartedWorkers

        with self._lock:
            if self._early is None:
                self._early = PrestartedWorkers()
            return self._early

    def _memory_beside(self) -> MemoryResults | None:
        config = self._config
        if not (config.memory_store and config.include_memories):
            return None
        from rootle.memory.factory import existence_check
        from rootle.search.results.memory_results import MemoryResults

        def find(text: str, paths: Sequence[str]) -> Sequence[Memory]:
            return self.memory().find_relevant(text, paths)

        is_here = config.memory_store == EMBEDDED
        return MemoryResults(
            find, config.memory_timeout_ms, existence_check(config), is_here=is_here
        )

    def _reranker(self) -> Reranker | None:
        if not (self._config.use_learned_reranker and self._config.reranker_provider):
            return None
        from rootle.rerank.factory import open_reranker

        return open_reranker(self._config)

    def _stored_answers(self) -> DiskCache | None:
        from rootle.search.cache.disk_cache import DiskCache

        config = self._config
        if not (config.enable_cache and config.cache_on_disk):
            return None
        return DiskCache(
            result_cache_dir(self._index_dir),
            config.cache_max_entries,
            config.cache_ttl_seconds,
            repr(config),
        )

    def _table(self) -> Embedder:
        """The model where it is a table, else the shipped one: no memory waits for a server."""
        if self.model_choice().is_table:
            return self.embedder()
        from rootle.embed.static import StaticEmbedder

        return StaticEmbedder()

    def _snapshot(self) -> Snapshot:
        return self.indexer().snapshot()
