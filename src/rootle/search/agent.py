"""The search pipeline: parse -> scope -> retrieve -> rank -> present."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from rootle.search.query.parse import ParsedQuestion, parse
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import RequestReader, SearchRequest
from rootle.search.results.page import FindPage, PageStage, ResultPage
from rootle.search.results.response import ResponseStage
from rootle.search.retrieval.merged_candidates import Candidates
from rootle.search.search_trace import SearchTrace
from rootle.search.stages.ranked_answer import AnswerStage, FindAnswer, RankedAnswer
from rootle.types import SearchQuery, SearchResponse


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a search after parsing. Each takes the result of the previous step."""

    scope: Callable[[SearchRequest, ParsedQuestion], ScopedQuery]
    retrieve: Callable[[SearchRequest, ScopedQuery], Candidates]
    rank: Callable[[SearchRequest, Candidates], RankedAnswer]
    present: Callable[[SearchRequest, RankedAnswer], ResultPage]
    respond: Callable[[SearchRequest, ResultPage], SearchResponse]


@dataclass(frozen=True, slots=True)
class Stages:
    """Optional stages of a search. Those that wrap steps are listed outermost first."""

    pages: Sequence[PageStage] = ()  # caches and others that wrap all steps except `respond`
    answers: Sequence[AnswerStage] = ()  # reranking and others that wrap retrieve and rank
    responses: Sequence[ResponseStage] = ()  # memories and others that run after all steps


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
        """Call `close` to stop the threads of the steps and stages."""
        self._requests = requests
        self._steps = steps
        self._responses = stages.responses
        self._open_trace = open_trace
        self._close = close
        self._find_answer: FindAnswer = self._retrieve_and_rank
        for answer_stage in reversed(stages.answers):
            self._find_answer = partial(answer_stage, self._find_answer)
        self._find_page: FindPage = self._run_steps
        for page_stage in reversed(stages.pages):
            self._find_page = partial(page_stage, self._find_page)

    def search(
        self, query: SearchQuery, *, explain: bool = False, stale: bool = False
    ) -> SearchResponse:
        """Return one page of an answer. Set `stale` if the index is known to be out of date.

        Raise QueryError if the query is invalid, and SearchUnavailableError if both legs fail.
        """
        with self._requests.active, self._open_trace(query) as trace:
            request = self._requests.read(query, trace, explain=explain, is_stale=stale)
            response = self._steps.respond(request, self._find_page(request))
            for add_to in self._responses:
                response = add_to(request, response)
            trace.record_response(response)
            return response

    def close(self) -> None:
        """Stop the threads, and release the index."""
        self._close()
        self._requests.close()

    def _run_steps(self, request: SearchRequest) -> ResultPage:
        question = parse(request)
        scoped = self._steps.scope(request, question)
        answer = self._find_answer(request, scoped)
        return self._steps.present(request, answer)

    def _retrieve_and_rank(self, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
        candidates = self._steps.retrieve(request, scoped)
        return self._steps.rank(request, candidates)
