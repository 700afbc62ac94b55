"""Build the public response from a page of results."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol

from rootle.rank.question.intent import Intent
from rootle.search.query.parse import interpret
from rootle.search.request import SearchRequest
from rootle.search.results.cursor import encode_cursor
from rootle.search.results.page import ResultPage
from rootle.search.results.working_tree import WorkingTree
from rootle.types import QueryInterpretation, SearchResponse, SymbolAspect


class ResponseStage(Protocol):
    """An optional stage that adds data, such as memories, to a finished response."""

    def __call__(self, request: SearchRequest, response: SearchResponse) -> SearchResponse: ...


class Responder:
    """Builds responses from result pages."""

    def __init__(self, tree: WorkingTree | None) -> None:
        """Check the files of `tree` for changes; if it is None, skip this check."""
        self._tree = tree

    def respond(self, request: SearchRequest, page: ResultPage) -> SearchResponse:
        """Return the response for a page. Raise StaleCursorError if the ranking has changed."""
        if request.position is not None:
            request.position.check(page.file_ids)
        index = request.session.index
        is_stale = request.is_stale or self._has_changed_files(request, page)
        degraded = (
            *page.degraded,
            *(("pending",) if index.dense.pending else ()),
            *(("stale",) if is_stale else ()),
        )
        return SearchResponse(
            results=page.results,
            next_cursor=_next_cursor(request, page),
            degraded=tuple(dict.fromkeys(degraded)),
            confident=page.confident,
            generation=index.generation,
            took_ms=round((time.perf_counter() - request.started_s) * 1000, 3),
            suggestions=page.notes,
            interpretation=_interpretation(request, page),
            symbols=page.symbols,
        )

    def _has_changed_files(self, request: SearchRequest, page: ResultPage) -> bool:
        if self._tree is None:
            return False
        ids = page.file_ids[request.offset : request.offset + request.limit].tolist()
        # The page was read from disk, or its files were ranked in several groups.
        if page.answer is None or page.answer.rest is not None:
            return self._tree.any_changed(request.session.index.files(ids).values())
        states = page.answer.candidates.states
        return self._tree.any_changed(states[file_id] for file_id in ids)


def _next_cursor(request: SearchRequest, page: ResultPage) -> str | None:
    end = request.offset + request.limit
    if end >= len(page.file_ids) or request.query.budget is not None:
        return None
    generation = request.session.index.generation
    return encode_cursor(
        request.digest, generation, end, page.as_of_s, page.file_ids, page.expansion
    )


def _interpretation(request: SearchRequest, page: ResultPage) -> QueryInterpretation | None:
    if not request.explain or page.question is None:
        return None
    found = interpret(page.question)
    if page.symbols is None:
        return found
    symbol = f"{page.symbols.aspect} of {page.symbols.name}"
    return replace(found, intent=_INTENTS[page.symbols.aspect], symbol=symbol)


_INTENTS: Final[Mapping[SymbolAspect, Intent]] = {
    "definitions": "symbol",
    "uses": "usage",
    "assignments": "usage",
    "reads": "usage",
    "tests": "test",
    "implementations": "usage",
}
