"""Create the search pipeline of a configuration."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.config.fields import Config
from rootle.index.reader import IndexReader
from rootle.plugins.registry import find_plugins
from rootle.protocols import DenseIndex, Embedder, QueryExpander, Reranker, SparseIndex
from rootle.rank.rankers.registry import FEATURES, Ranker
from rootle.search.agent import SearchAgent, Stages, Steps
from rootle.search.cache.answer_cache import AnswerCache, Present
from rootle.search.cache.disk_cache import DiskCache
from rootle.search.query.plugin_filters import PluginFilters
from rootle.search.query.scope import ScopeStage, ScopeStep
from rootle.search.request import RequestReader
from rootle.search.results.memory_results import MemoryResults
from rootle.search.results.page import ContextExpansion, PageStage, PresentStep
from rootle.search.results.response import Responder
from rootle.search.results.shown_spans import drop_excluded
from rootle.search.results.working_tree import WorkingTree
from rootle.search.retrieval.hybrid_retriever import HybridRetriever
from rootle.search.search_trace import SearchLogFile, SearchTrace
from rootle.search.session import Sessions
from rootle.search.stages.deduplication import Deduplication, fold_translations
from rootle.search.stages.named_symbols import NamedSymbols
from rootle.search.stages.notes import Notes
from rootle.search.stages.query_expansion import QueryExpansion
from rootle.search.stages.ranked_answer import AnswerStage, RankStep, append_later_pages
from rootle.search.stages.reranking import Reranking

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder


def open_agent(
    open_index: Callable[[], IndexReader],
    open_embedder: Callable[[], Embedder],
    config: Config,
    *,
    root: Path | None = None,
    dense: DenseIndex | None = None,
    sparse: SparseIndex | None = None,
    model: str = "",
    ranker: Ranker = FEATURES,
    reranker: Reranker | None = None,
    expander: QueryExpander | None = None,
    memories: MemoryResults | None = None,
    open_symbols: Callable[[], SymbolFinder] | None = None,
    narrow: ScopeStage | None = None,
    cache_dir: Path | None = None,
    log: SearchLogFile | None = None,
    clock: Callable[[], float] = time.time,
) -> SearchAgent:
    """Return a search pipeline for an index.

    `open_index` is called for each query and returns the newest generation of the index. `root` is
    the indexed folder; without it, the text of all results comes from the index. `dense` and
    `sparse` are search servers, each of which replaces one leg of the index. If the vectors were
    made by a model whose fingerprint is not `model`, the dense leg fails; an empty string accepts
    any model. `narrow` limits every search. If `cache_dir` is given, pages are cached in it.
    """
    tree = WorkingTree(root, config.secret_exceptions) if root is not None else None
    resources = ExitStack()
    retriever = HybridRetriever(
        open_embedder, config, dense=dense, sparse=sparse, model=model, is_limited=reranker is None
    )
    resources.callback(retriever.close)
    answers: list[AnswerStage] = [
        Notes(config.no_results_suggestion),
        NamedSymbols(open_symbols or _open_symbols()),
        append_later_pages,
    ]
    if reranker is not None:
        reranking = Reranking(reranker, config, ranker.signals)
        resources.callback(reranking.close)
        answers.append(reranking)
    answers += [fold_translations, Deduplication(tree), drop_excluded]
    if memories is not None:
        resources.callback(memories.close)
    present = PresentStep(tree)
    steps = Steps(
        _open_scope(config, resources, narrow),
        retriever,
        RankStep(ranker, config.reranker_timeout_ms, is_final=reranker is None),
        present,
        Responder(tree).respond,
    )
    pages: list[PageStage] = [
        ContextExpansion(config, tree),
        *_open_caches(config, present, cache_dir, clock),
    ]
    if expander is not None:
        expansion = QueryExpansion(expander, config)
        resources.callback(expansion.close)
        pages.append(expansion)
    if reranker is None:  # a query that waits for a reranker does not slow down the others
        pages.append(retriever.limit_concurrency)
    return SearchAgent(
        RequestReader(Sessions(open_index), config, clock),
        steps,
        Stages(pages, answers, () if memories is None else (memories,)),
        partial(SearchTrace, log=log, embedding_model=config.embedding_model_id, clock=clock),
        resources.close,
    )


def _open_symbols() -> Callable[[], SymbolFinder]:
    @cache
    def open_finder() -> SymbolFinder:
        from rootle.search.symbols.finder import SymbolFinder  # loads a parser

        return SymbolFinder()

    return open_finder


def _open_scope(config: Config, resources: ExitStack, narrow: ScopeStage | None) -> ScopeStep:
    filters: list[ScopeStage] = [narrow] if narrow is not None else []
    found = find_plugins(config.plugins).select("filter")
    if found:
        plugins = PluginFilters(found, config.sparse_timeout_ms)
        resources.callback(plugins.close)
        filters.append(plugins)
    return ScopeStep(filters)


def _open_caches(
    config: Config, present: Present, cache_dir: Path | None, clock: Callable[[], float]
) -> list[PageStage]:
    """Return the caches, fastest first."""
    if not config.enable_cache:
        return []
    limits = config.cache_max_entries, config.cache_ttl_seconds
    caches: list[PageStage] = [AnswerCache(*limits, present, clock)]
    if cache_dir is not None:
        caches.append(DiskCache(cache_dir, *limits, repr(config)))
    return caches
