"""The SearchAgent: two legs with deadlines, one ranking, one page of results."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.concurrency.fair_semaphore import FairSemaphore
from rootle.config.fields import NO_MODEL, Config
from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import FileState
from rootle.plugins.registry import find_plugins
from rootle.protocols import NO_HITS, DenseIndex, Embedder, Reranker, SparseIndex
from rootle.rank.question.parsed import Question
from rootle.rank.rankers.registry import FEATURES, Ranker, rank_within
from rootle.rerank.request import rerank_documents
from rootle.search.cache.answer import RankedAnswer
from rootle.search.cache.answer_cache import AnswerCache
from rootle.search.cache.disk_cache import DiskCache, ResultPage
from rootle.search.query.filters import allowed_files, valid_until
from rootle.search.query.parse import ParsedQuestion, interpret, remarks_on, understand
from rootle.search.query.plugin_filters import PluginFilters, within
from rootle.search.query.scope import Scope, resolve_scope
from rootle.search.query.validation import MAX_QUERY_CHARS, check_query
from rootle.search.reranking import READ, documents_of, reordered
from rootle.search.results.context import FileNow, widened, widening_of
from rootle.search.results.current_text import any_changed, current_text
from rootle.search.results.cursor import decode_cursor, encode_cursor, query_digest
from rootle.search.results.deduplication import Collapsed, collapse_duplicates
from rootle.search.results.low_confidence import low_confidence_message
from rootle.search.results.memory_results import MemoryResults
from rootle.search.results.page import Ranking, build_page, with_spans_if_some_are_hidden
from rootle.search.results.suggestions import suggestions
from rootle.search.results.working_tree import WorkingTree
from rootle.search.retrieval.candidates import build_evidence, choose_candidates, with_authors
from rootle.search.retrieval.file_vectors import cosines_of_files
from rootle.search.retrieval.hybrid_retriever import HybridRetriever
from rootle.search.search_log import SearchLogFile
from rootle.search.search_trace import SearchTrace
from rootle.search.session import Session, open_session
from rootle.types import SearchQuery, SearchResponse, SearchResult

# So many copies leave few of the places for candidates to anything else.
_CROWD: Final = 30


class _Page(NamedTuple):
    """Which results are wanted of an answer."""

    offset: int
    limit: int
    explain: bool


class SearchAgent:
    """Answers questions from whatever snapshot is the newest."""

    def __init__(
        self,
        snapshots: Callable[[], Snapshot],
        embedder: Callable[[], Embedder],
        config: Config,
        clock: Callable[[], float] = time.time,
        log: SearchLogFile | None = None,
        *,
        root: Path | None = None,
        dense: DenseIndex | None = None,
        sparse: SparseIndex | None = None,
        reranker: Reranker | None = None,
        stored: DiskCache | None = None,
        ranker: Ranker = FEATURES,
        memory: MemoryResults | None = None,
        model: str = "",
    ) -> None:
        """`dense` and `sparse` serve a leg in the place of the snapshot's own index.

        A reranker has the last word on the order; memories stand beside it. Without a root
        contexts are made of the text as it was indexed. `model` is the fingerprint that the vectors
        of an index must have; empty: whatever they have.
        """
        self._snapshots = snapshots
        self._config = config
        self._clock = clock
        self._log = log
        self._root = root
        self._tree = WorkingTree(root) if root is not None else None
        self._legs = HybridRetriever(embedder, config, dense, sparse, model)
        self._ranker = ranker
        self._memory = memory
        self._reranker = reranker
        self._stored = stored
        named = config.reranker_model_id
        self._reranker_name = (config.reranker_provider if named == NO_MODEL else "") or named
        self._reranking = DeadlineExecutor("reranker", config.reranker_timeout_ms)
        self._under_way = 0  # searches
        self._counting = threading.Lock()
        plugins = find_plugins(config.plugins)
        self._filters = PluginFilters(plugins.of("filter"), config.sparse_timeout_ms)
        self._session: Session | None = None

    def search(
        self, query: SearchQuery, *, explain: bool = False, stale: bool = False
    ) -> SearchResponse:
        """One page of answers. Raises QueryError and SearchUnavailableError."""
        with self._counting:
            self._under_way += 1
        try:
            with SearchTrace(
                query, self._log, self._config.embedding_model_id, self._clock
            ) as account:
                response = self._respond(query, account, explain=explain, stale=stale)
                if self._memory is not None:
                    response = self._memory.added(query, response, self._turns)
                return account.answered(response)
        finally:
            with self._counting:
                self._under_way -= 1

    def _respond(
        self, query: SearchQuery, account: SearchTrace, *, explain: bool, stale: bool
    ) -> SearchResponse:
        started = time.perf_counter()
        limit = check_query(query, self._config)
        query = self._with_defaults(query)
        digest = query_digest(query)
        session = self._current_session()
        generation = session.snapshot.generation
        position = None
        if query.cursor is not None:
            position = decode_cursor(query.cursor, digest, generation)
        now_s = position.as_of_s if position else self._clock()
        page = _Page(position.offset if position else 0, limit, explain=explain)
        shown, asked = self._shown(session, query, digest, page, now_s, account)
        if position is not None:
            position.check(shown.files)
        results, offset = shown.results, page.offset
        states = session.snapshot.files(shown.files[offset : offset + len(results)].tolist())
        is_stale = stale or any_changed(self._root, states.values())
        if query.context or query.budget is not None or query.exclude:
            results = self._widened(session.snapshot, states.values(), results, query)
        end, cursor = offset + limit, None
        if end < len(shown.files) and query.budget is None:
            cursor = encode_cursor(digest, generation, end, shown.as_of_s, shown.files)
        return SearchResponse(
            results=results,
            next_cursor=cursor,
            degraded=tuple(
                dict.fromkeys(
                    (
                        *shown.degraded,
                        *(("pending",) if session.snapshot.dense.pending else ()),
                        *(("stale",) if is_stale else ()),
                    )
                )
            ),
            confident=shown.confident,
            generation=generation,
            took_ms=round((time.perf_counter() - started) * 1000, 3),
            suggestions=shown.said,
            interpretation=interpret(asked) if explain and asked is not None else None,
        )

    @property
    def _takes_turns(self) -> bool:
        # Whoever waits for a server takes nothing from the others.
        return self._legs.are_here and self._reranker is None

    def _turns(self) -> FairSemaphore:
        """Those of the last session: what a rebuild is deleting now is not opened for them."""
        return (self._session or self._current_session()).turns

    def _with_defaults(self, query: SearchQuery) -> SearchQuery:
        if query.min_recency_days is None and self._config.min_recency_days:
            return replace(query, min_recency_days=self._config.min_recency_days)
        return query

    def _shown(
        self,
        session: Session,
        query: SearchQuery,
        digest: bytes,
        page: _Page,
        now_s: float,
        account: SearchTrace,
    ) -> tuple[ResultPage, ParsedQuestion | None]:
        """A page of the ranked files, from memory or disk where they were ranked before."""
        answer = session.cache.get(digest) if session.cache is not None else None
        if answer is not None and answer.holds_at(now_s):
            account.note_cache_hit()
            return self._cut(session, answer, page), answer.asked
        stored = None if page.explain else self._stored
        place = (session.stored_state, digest, page.offset, page.limit)
        shown = stored.get(*place) if stored is not None else None
        if shown is not None and shown.as_of_s <= now_s < shown.until_s:
            account.note_cache_hit()
            return shown, None
        with session.turns.acquire() if self._takes_turns else nullcontext():
            answer = self._new_answer(session, query, now_s, account)
            shown = self._cut(session, answer, page)
        if not answer.degraded:  # what was missing may be back for the next one
            if session.cache is not None:
                session.cache.put(digest, answer)
            if stored is not None:
                stored.put(*place, shown)
        return shown, answer.asked

    def _cut(self, session: Session, answer: RankedAnswer, page: _Page) -> ResultPage:
        results = self._page(session, answer, page.offset, page.limit, explain=page.explain)
        return ResultPage(
            results,
            answer.files,
            answer.degraded,
            answer.said,
            answer.confident,
            answer.as_of_s,
            answer.until_s,
        )

    def _new_answer(
        self, session: Session, query: SearchQuery, now_s: float, account: SearchTrace
    ) -> RankedAnswer:
        snapshot = session.snapshot
        session.ahead.note_question(snapshot)
        asked = understand(query.text_query[:MAX_QUERY_CHARS], snapshot)
        kept, late = self._filters.kept(snapshot.generation, snapshot.all_files)
        allowed = within(allowed_files(query, asked.parsed, snapshot.all_files, now_s), kept)
        narrowed = resolve_scope(asked.parsed, snapshot, allowed)
        ranking, folded = self._rank_once_each(session, asked.question, narrowed, now_s, account)
        ranking, folded = self._reranked(session, asked, ranking, folded, account)
        said = (*remarks_on(asked), *narrowed.remarks)
        if not folded.order:
            own = self._config.no_results_suggestion
            said = said or suggestions(query, asked, snapshot, now_s, own)
        until_s = math.inf
        if query.min_recency_days and allowed:
            until_s = valid_until(query, allowed, snapshot.all_files())
        degraded = (*ranking.degraded, *narrowed.degraded, *late)
        answer = RankedAnswer(
            asked, ranking, folded.order, folded.copies, degraded, said, now_s, until_s
        )
        if folded.order and answer.confident is False:
            return replace(
                answer, said=(*said, low_confidence_message(asked.question, snapshot.sparse))
            )
        return answer

    def _rank_once_each(
        self,
        session: Session,
        question: Question,
        narrowed: Scope,
        now_s: float,
        account: SearchTrace,
    ) -> tuple[Ranking, Collapsed]:
        """The ranking, and its order without copies."""
        snapshot = session.snapshot

        def ranked(narrowed: Scope) -> tuple[Ranking, Collapsed]:
            ranking = self._rank(session, question, narrowed, now_s, account)
            ranking = with_spans_if_some_are_hidden(snapshot, session.rows, ranking)
            return ranking, collapse_duplicates(
                snapshot, ranking, narrowed.files, session.twins, self._tree
            )

        ranking, folded = ranked(narrowed)
        if len(folded.hidden) < _CROWD:
            return ranking, folded
        # They took the places of other files, which are asked for once more without them.
        every = narrowed.files or {state.id for state in snapshot.all_files()}
        ranking, others = ranked(replace(narrowed, files=set(every) - folded.hidden))
        return ranking, replace(others, copies={**folded.copies, **others.copies})

    def _reranked(
        self,
        session: Session,
        asked: ParsedQuestion,
        ranking: Ranking,
        folded: Collapsed,
        account: SearchTrace,
    ) -> tuple[Ranking, Collapsed]:
        """The order of the reranker; where it is down or late the one before it stands."""
        order = folded.order[: min(READ, self._config.max_merged_candidates)]
        if self._reranker is None or not order:
            return ranking, folded
        with account.reranking(len(order), self._reranker_name):
            documents = documents_of(session.snapshot, ranking, order)
            asking = self._reranking.start(
                partial(rerank_documents, self._reranker, asked.question.text, documents)
            )
            hits = asking.result()
        if hits is None:
            return replace(ranking, degraded=(*ranking.degraded, "reranker")), folded
        account.reranker_model = self._reranker_name
        ranking, first = reordered(ranking, order, hits, self._ranker.signals)
        return ranking, replace(folded, order=(*first, *folded.order[len(order) :]))

    def _page(
        self, session: Session, answer: RankedAnswer, offset: int, limit: int, *, explain: bool
    ) -> tuple[SearchResult, ...]:
        results = answer.page(offset, limit, explain=explain)
        if results is None:
            page = answer.order[offset : offset + limit]
            results = build_page(
                session.snapshot,
                session.rows,
                answer.ranking,
                page,
                answer.copies,
                self._tree,
                explain=explain,
            )
            answer.keep_page(offset, results, explain=explain)
        return results

    def _widened(
        self,
        snapshot: Snapshot,
        states: Iterable[FileState],
        results: Sequence[SearchResult],
        query: SearchQuery,
    ) -> tuple[SearchResult, ...]:
        state_of = {state.path: state for state in states}

        def file_of(result: SearchResult) -> FileNow | None:
            state = state_of[result.file_path]
            text = current_text(self._root, state, snapshot)
            return None if text is None else FileNow(text, snapshot.chunks_of(state.id))

        return widened(results, file_of, widening_of(self._config, query))

    def close(self) -> None:
        self._legs.close()
        self._reranking.close()
        if self._memory is not None:
            self._memory.close()
        self._filters.close()

    def _current_session(self) -> Session:
        snapshot = self._snapshots()
        if self._session is None or self._session.snapshot is not snapshot:
            state = self._stored.state_of(snapshot) if self._stored is not None else ""
            self._session = open_session(snapshot, self._new_cache(), state)
        return self._session

    def _new_cache(self) -> AnswerCache[RankedAnswer] | None:
        config = self._config
        if not config.enable_cache:
            return None
        return AnswerCache(config.cache_max_entries, config.cache_ttl_seconds, self._clock)

    def _rank(
        self,
        session: Session,
        question: Question,
        narrowed: Scope,
        now_s: float,
        account: SearchTrace,
    ) -> Ranking:
        snapshot, allowed = session.snapshot, narrowed.files
        alone = self._under_way <= 1
        sparse, dense, degraded = self._legs.ask(
            session, question, allowed, is_alone=alone, in_turn=self._takes_turns
        )
        limit = self._config.max_merged_candidates
        candidates = choose_candidates(
            sparse, dense, session.table, limit, allowed, narrowed.chunk_ids
        )
        account.sparse_hits = len(sparse.body.ids)
        account.dense_hits = 0 if dense is None else len(dense.hits.ids)
        account.candidates = len(candidates.chunk_ids)
        cosines = cosines_of_files(snapshot.dense, session.rows, dense, candidates.file_ids)
        states = snapshot.files(candidates.file_ids.tolist())
        # The step is told where it ends the ranking: a model may be still to come.
        is_last = self._reranker is None
        with account.reranking(account.candidates) if is_last else nullcontext():
            evidence = build_evidence(
                question,
                sparse,
                snapshot.sparse if "sparse" not in degraded else None,
                candidates,
                session.table,
                [states[at] for at in candidates.file_ids.tolist()],
                now_s,
                NO_HITS if dense is None else dense.hits,
                cosines,
            )
            if self._ranker.signals is not None and self._ranker.signals.needs_authors:
                evidence = with_authors(evidence, states)
            ranker, files = rank_within(self._ranker, evidence, self._config.reranker_timeout_ms)
            if ranker is not self._ranker:
                degraded.append(self._ranker.name)
            judgement = ranker.confidence(evidence, files) if ranker.confidence else None
        return Ranking(
            evidence,
            files,
            ranker.score_spans,
            judgement,
            None if cosines is None else cosines.rows,
            "sparse" not in degraded,
            tuple(degraded),
            narrowed.demands,
            files=states,
        )
