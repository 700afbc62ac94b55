"""Create the search pipeline of a configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rootle.config.fields import Config
from rootle.index.reader import IndexReader
from rootle.plugins.registry import find_plugins
from rootle.protocols import DenseIndex, Embedder, Reranker, SparseIndex
from rootle.rank.rankers.registry import FEATURES, Ranker
from rootle.search.agent import PipelineStage, SearchAgent, Stages, Steps
from rootle.search.cache.answer_cache import AnswerCache, Present
from rootle.search.cache.disk_cache import DiskCache
from rootle.search.query.plugin_filters import PluginFilters
from rootle.search.query.scope import ScopeStage, apply_filters, match_phrases
from rootle.search.request import RequestReader, SearchRequest
from rootle.search.results.memory_results import MemoryResults
from rootle.search.results.page import FindPage, PageStage, PresentStep, ResultPage
from rootle.search.results.shown_spans import drop_excluded
from rootle.search.results.working_tree import WorkingTree
from rootle.search.retrieval.hybrid_retriever import HybridRetriever
from rootle.search.revision_periods import ListChanged, ListPeriod, no_periods
from rootle.search.search_trace import SearchLogFile, SearchTrace
from rootle.search.session import Sessions
from rootle.search.stages.concurrency_limit import LimitedQueries
from rootle.search.stages.deduplication import Deduplication, fold_translations
from rootle.search.stages.named_symbols import NamedSymbols
from rootle.search.stages.notes import Notes
from rootle.search.stages.pasted_text import find_pasted_text
from rootle.search.stages.query_expansion import QueryExpansion
from rootle.search.stages.ranked_answer import (
    AnswerStage,
    RankStep,
    append_later_pages,
)
from rootle.search.stages.rare_names import show_named_file, show_rare_names
from rootle.search.stages.reranking import Reranking
from rootle.search.stages.unindexed_text import ExplainExclusions, no_exclusions
from rootle.search.stages.versions import show_version

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

_StageT = TypeVar("_StageT")
_ClosableT = TypeVar("_ClosableT", Reranking, MemoryResults, PluginFilters)


@dataclass(frozen=True, slots=True)
class SearchedIndex:
    """An index to search, and what belongs to it."""

    open: Callable[[], IndexReader]  # returns the newest generation; called for each query
    open_embedder: Callable[[], Embedder]
    # The fingerprint of the model that made the vectors. The dense leg fails if the index names
    # another one; "" accepts any model.
    model: str = ""
    root: Path | None = None  # the indexed folder; without it, all text comes from the index
    dense: DenseIndex | None = None  # a search server that replaces the dense leg
    sparse: SparseIndex | None = None
    narrow: ScopeStage | None = None  # limits the files of every search
    list_period: ListPeriod = no_periods  # lists the commits that a revision in a filter selects
    list_changed: ListChanged | None = None  # lists the files that differ between two revisions
    explain_exclusions: ExplainExclusions = no_exclusions
    cache_dir: Path | None = None  # the folder for cached pages


@dataclass(frozen=True, slots=True)
class SearchFeatures:
    """The replaceable and optional parts of a pipeline."""

    ranker: Ranker = FEATURES
    reranker: Reranker | None = None
    # Several pipelines may share it, so closing a pipeline does not close it.
    expansion: QueryExpansion | None = None
    memories: MemoryResults | None = None
    open_symbols: Callable[[], SymbolFinder] | None = None
    stages: Sequence[AnswerStage] = ()  # wrap the ranking of the files, outermost first


def open_agent(
    index: SearchedIndex,
    config: Config,
    features: SearchFeatures = SearchFeatures(),
    *,
    log: SearchLogFile | None = None,
    clock: Callable[[], float] = time.time,
) -> SearchAgent:
    """Return a search pipeline for an index."""
    tree = None if index.root is None else WorkingTree(index.root, config.secret_exceptions)
    resources = ExitStack()
    retriever = HybridRetriever(
        index.open_embedder, config, dense=index.dense, sparse=index.sparse, model=index.model
    )
    resources.callback(retriever.close)
    is_final = features.reranker is None
    present = PresentStep(tree)
    pages: list[PipelineStage[PageStage]] = [
        PipelineStage(partial(_expand_page, config, tree), "context"),
        *_open_caches(config, present, index.cache_dir, clock),
        *_wrap_stages(features.expansion),
        # A query that waits for a reranker does not slow down other queries.
        *_wrap_stages(LimitedQueries(retriever) if is_final else None),
    ]
    periods = (index.list_period, index.list_changed)
    return SearchAgent(
        RequestReader(Sessions(index.open), config, clock, *periods),
        Steps(
            retriever,
            RankStep(features.ranker, config.reranker_timeout_ms, is_final=is_final),
            present,
            present.respond,
        ),
        Stages(
            pages,
            _scope_stages(config, resources, index.narrow),
            _answer_stages(config, features, tree, index.explain_exclusions, resources),
            _close_later(resources, features.memories),
        ),
        partial(SearchTrace, log=log, embedding_model=config.embedding_model_id, clock=clock),
        resources.close,
    )


def _expand_page(
    config: Config, tree: WorkingTree | None, find: FindPage, request: SearchRequest
) -> ResultPage:
    from rootle.search.results.context import expand_page  # few queries ask for context

    return expand_page(config, tree, find, request)


def _close_later(resources: ExitStack, stage: _ClosableT | None) -> tuple[_ClosableT, ...]:
    """Close a stage together with the resources. Return the stage in a tuple; () for None."""
    if stage is None:
        return ()
    resources.callback(stage.close)
    return (stage,)


def _wrap_stages(*stages: _StageT | None) -> list[PipelineStage[_StageT]]:
    """Wrap the stages that are not None, so that they run for all queries."""
    return [PipelineStage(stage) for stage in stages if stage is not None]


def _answer_stages(
    config: Config,
    features: SearchFeatures,
    tree: WorkingTree | None,
    explain_exclusions: ExplainExclusions,
    resources: ExitStack,
) -> list[PipelineStage[AnswerStage]]:
    """Return the stages, outermost first."""
    open_finder = features.open_symbols or _open_symbols()
    reranking: list[PipelineStage[AnswerStage]] = []
    named: list[PipelineStage[AnswerStage]] = [PipelineStage(show_rare_names, "names")]
    if features.reranker is not None:
        # A reranker reads the text of the best files, which is better evidence than a rare name.
        named = []
        stage = Reranking(features.reranker, config, features.ranker.signals)
        reranking = _wrap_stages(*_close_later(resources, stage))
    return [
        PipelineStage(Notes(config.no_results_suggestion, explain_exclusions)),
        PipelineStage(NamedSymbols(open_finder, tree), "name"),
        PipelineStage(partial(find_pasted_text, open_finder), "pasted"),
        PipelineStage(show_version, "version"),
        PipelineStage(show_named_file, "file"),
        *named,
        *_wrap_stages(*features.stages),
        PipelineStage(append_later_pages),
        *reranking,
        PipelineStage(fold_translations),
        PipelineStage(Deduplication(tree)),
        PipelineStage(drop_excluded, "exclusions"),
    ]


def _open_symbols() -> Callable[[], SymbolFinder]:
    @cache
    def open_finder() -> SymbolFinder:
        from rootle.search.symbols.finder import SymbolFinder  # loads a parser

        return SymbolFinder()

    return open_finder


def _scope_stages(
    config: Config, resources: ExitStack, narrow: ScopeStage | None
) -> list[PipelineStage[ScopeStage]]:
    """Return the stages, from cheap to expensive."""
    found = find_plugins(config.plugins).select("filter")
    plugins = PluginFilters(found, config.sparse_timeout_ms) if found else None
    return [
        PipelineStage(apply_filters, "filters"),
        *_wrap_stages(narrow, *_close_later(resources, plugins)),
        PipelineStage(match_phrases, "exact"),
    ]


def _open_caches(
    config: Config, present: Present, cache_dir: Path | None, clock: Callable[[], float]
) -> list[PipelineStage[PageStage]]:
    """Return the caches, fastest first."""
    if not config.enable_cache:
        return []
    limits = config.cache_max_entries, config.cache_ttl_seconds
    on_disk = None if cache_dir is None else DiskCache(cache_dir, *limits, repr(config))
    return _wrap_stages(AnswerCache(*limits, present, clock), on_disk)
