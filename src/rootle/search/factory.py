"""Create the search pipeline of a configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rootle.config.fields import Config
from rootle.index.reader import IndexReader
from rootle.plugins.registry import find_plugins
from rootle.protocols import DenseIndex, Embedder, Reranker, SparseIndex
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
from rootle.search.revision_periods import ListChanged, ListPeriod, no_periods
from rootle.search.search_trace import SearchLogFile, SearchTrace
from rootle.search.session import Sessions
from rootle.search.stages.deduplication import Deduplication, fold_translations
from rootle.search.stages.named_symbols import NamedSymbols
from rootle.search.stages.notes import Notes
from rootle.search.stages.pasted_text import find_pasted_text
from rootle.search.stages.query_expansion import QueryExpansion
from rootle.search.stages.ranked_answer import (
    AnswerStage,
    RankStep,
    append_later_pages,
    only_for,
)
from rootle.search.stages.rare_names import show_rare_names
from rootle.search.stages.reranking import Reranking
from rootle.search.stages.versions import show_version

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

_ClosableT = TypeVar("_ClosableT", Reranking, MemoryResults, PluginFilters)


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
    expansion: QueryExpansion | None = None,
    memories: MemoryResults | None = None,
    open_symbols: Callable[[], SymbolFinder] | None = None,
    narrow: ScopeStage | None = None,
    list_period: ListPeriod = no_periods,
    list_changed: ListChanged | None = None,
    stages: Sequence[AnswerStage] = (),
    cache_dir: Path | None = None,
    log: SearchLogFile | None = None,
    clock: Callable[[], float] = time.time,
) -> SearchAgent:
    """Return a search pipeline for an index.

    `open_index` returns the newest generation for each query. `root` is the indexed folder; without
    a root, all text comes from the index. `dense` and `sparse` are search servers that replace one
    leg each. The dense leg fails if the vectors were made by a model whose fingerprint is not
    `model`; "" accepts any model. Several pipelines may share `expansion`, so closing the pipeline
    does not close it. `narrow` limits the files of every search. `list_period` lists the commits
    that `since:` or `until:` with a revision selects, and `list_changed` the files that changed
    between two revisions. `stages` wrap the ranking of the files, outermost first. `cache_dir` is
    the folder for cached pages.
    """
    tree = WorkingTree(root, config.secret_exceptions) if root is not None else None
    resources = ExitStack()
    retriever = HybridRetriever(
        open_embedder, config, dense=dense, sparse=sparse, model=model, is_limited=reranker is None
    )
    resources.callback(retriever.close)
    scope = _open_scope(config, resources, narrow)
    rank = RankStep(ranker, config.reranker_timeout_ms, is_final=reranker is None)
    present = PresentStep(tree)
    caches = _open_caches(config, present, cache_dir, clock)
    pages: list[PageStage] = [ContextExpansion(config, tree), *caches]
    pages += [expansion] if expansion is not None else []
    if reranker is None:  # a query that waits for a reranker does not slow down other queries
        pages.append(retriever.limit_concurrency)
    reranking = Reranking(reranker, config, ranker.signals) if reranker else None
    answers = _answer_stages(config, tree, open_symbols, _close_later(resources, reranking), stages)
    return SearchAgent(
        RequestReader(Sessions(open_index), config, clock, list_period, list_changed),
        Steps(scope, retriever, rank, present, Responder(tree).respond),
        Stages(pages, answers, _close_later(resources, memories)),
        partial(SearchTrace, log=log, embedding_model=config.embedding_model_id, clock=clock),
        resources.close,
    )


def _close_later(resources: ExitStack, stage: _ClosableT | None) -> tuple[_ClosableT, ...]:
    """Close a stage together with the resources. Return the stage in a tuple; () for None."""
    if stage is None:
        return ()
    resources.callback(stage.close)
    return (stage,)


def _answer_stages(
    config: Config,
    tree: WorkingTree | None,
    open_symbols: Callable[[], SymbolFinder] | None,
    reranking: Sequence[AnswerStage],
    added: Sequence[AnswerStage],
) -> list[AnswerStage]:
    """Return the stages, outermost first."""
    # A reranker reads the text of the best files, which is better evidence than a rare name.
    named = () if reranking else (only_for(attrgetter("names"), show_rare_names),)
    open_finder = open_symbols or _open_symbols()
    return [
        Notes(config.no_results_suggestion),
        NamedSymbols(open_finder, tree),
        only_for(attrgetter("may_be_pasted"), partial(find_pasted_text, open_finder)),
        only_for(attrgetter("version"), show_version),
        *named,
        *added,
        append_later_pages,
        *reranking,
        fold_translations,
        Deduplication(tree),
        drop_excluded,
    ]


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
        filters += _close_later(resources, PluginFilters(found, config.sparse_timeout_ms))
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
