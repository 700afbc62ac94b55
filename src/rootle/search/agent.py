"""The search pipeline: parse -> scope -> retrieve -> rank -> present."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from rootle.search.query.parse import parse
from rootle.search.query.scope import ScopedQuery, ScopeStage
from rootle.search.query_traits import Trait
from rootle.search.request import RequestReader, SearchRequest
from rootle.search.results.page import FindPage, PageStage, ResponseStage, ResultPage
from rootle.search.retrieval.merged_candidates import Candidates
from rootle.search.search_trace import SearchTrace
from rootle.search.stages.ranked_answer import AnswerStage, FindAnswer, RankedAnswer
from rootle.types import SearchQuery, SearchResponse

_RunT_co = TypeVar("_RunT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class PipelineStage(Generic[_RunT_co]):
    """A stage, and the queries for which it runs."""

    run: _RunT_co
    trait: Trait | None = None  # it runs for queries with this trait; None for all queries


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a search after parsing and scoping. Each takes the previous step's result."""

    retrieve: Callable[[SearchRequest, ScopedQuery], Candidates]
    rank: Callable[[SearchRequest, Candidates], RankedAnswer]
    present: Callable[[SearchRequest, RankedAnswer], ResultPage]
    respond: Callable[[SearchRequest, ResultPage], SearchResponse]


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of a search. Those that wrap steps are listed outermost first."""

    # Stages that wrap all steps except `respond`, such as caches.
    pages: Sequence[PipelineStage[PageStage]] = ()
    # Stages that narrow the scope one after the other, such as filters.
    scopes: Sequence[PipelineStage[ScopeStage]] = ()
    # Stages that wrap `retrieve` and `rank`, such as reranking.
    answers: Sequence[PipelineStage[AnswerStage]] = ()
    # Stages that run after all steps, such as the one that adds memories.
    responses: Sequence[ResponseStage] = ()


class SearchAgent:
    """The search pipeline, which answers queries from the newest generation of an index.

    The specification calls it an agent, but it is not an AI agent. Safe to use from many threads.
    """

    def __init__(
        self,
        requests: RequestReader,
        steps: Steps,
        stages: Stages,
        open_trace: Callable[[SearchQuery], SearchTrace],
        close: Callable[[], None],
    ) -> None:
        """Create a pipeline. `close` stops the threads of the steps and stages."""
        self._requests = requests
        self._steps = steps
        self._stages = stages
        self._open_trace = open_trace
        self._close = close
        self._find_answer: FindAnswer = self._retrieve_and_rank
        for answer_stage in reversed(stages.answers):
            self._find_answer = _wrap_answer(answer_stage, self._find_answer)
        self._find_page: FindPage = self._run_steps
        for page_stage in reversed(stages.pages):
            self._find_page = _wrap_page(page_stage, self._find_page)

    def search(
        self, query: SearchQuery, *, explain: bool = False, stale: bool = False
    ) -> SearchResponse:
        """Return one page of an answer. Set `stale` if the index is known to be out of date.

        Raise QueryError if the query is invalid, and SearchUnavailableError if both legs fail.
        """
        with self._requests.active, self._open_trace(query) as trace:
            request = self._requests.read(query, trace, explain=explain, is_stale=stale)
            response = self._steps.respond(request, self._find_page(request))
            for add_to in self._stages.responses:
                response = add_to(request, response)
            trace.record_response(response)
            return response

    def close(self) -> None:
        """Stop the threads, and release the index."""
        self._close()
        self._requests.close()

    def _run_steps(self, request: SearchRequest) -> ResultPage:
        scoped = ScopedQuery(parse(request))
        for stage in self._stages.scopes:
            if stage.trait is None or stage.trait in scoped.question.traits:
                scoped = stage.run(request, scoped)
        answer = self._find_answer(request, scoped)
        return self._steps.present(request, answer)

    def _retrieve_and_rank(self, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
        candidates = self._steps.retrieve(request, scoped)
        return self._steps.rank(request, candidates)


def _wrap_page(stage: PipelineStage[PageStage], find: FindPage) -> FindPage:
    """Return a function that runs the stage only for queries that have its trait."""
    run, trait = partial(stage.run, find), stage.trait
    if trait is None:
        return run
    return lambda request: (run if trait in request.traits else find)(request)


def _wrap_answer(stage: PipelineStage[AnswerStage], find: FindAnswer) -> FindAnswer:
    """Return a function that runs the stage only for questions that have its trait."""
    run, trait = partial(stage.run, find), stage.trait
    if trait is None:
        return run
    # Check the question in the scope, because an outer stage may have dropped its quotes.
    return lambda request, scoped: (run if trait in scoped.question.traits else find)(
        request, scoped
    )
