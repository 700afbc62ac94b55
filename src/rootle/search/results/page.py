"""Step 5: present one page of a ranked answer as results with lines of text, and respond."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final, Protocol

import numpy as np

from rootle.index.reader import FileState, IndexReader
from rootle.protocols import Ids
from rootle.rank.features import NAMES
from rootle.rank.question.intent import Intent
from rootle.search.query.parse import ParsedQuestion, interpret
from rootle.search.request import SearchRequest
from rootle.search.results.cursor import encode_cursor
from rootle.search.results.shown_spans import (
    ExcerptReader,
    ScoredChunks,
    read_spans,
    score_chunks,
    select_spans,
)
from rootle.search.results.working_tree import WorkingTree
from rootle.search.retrieval.merged_candidates import is_among
from rootle.search.stages.ranked_answer import RankedAnswer
from rootle.serialization.timestamps import format_timestamp
from rootle.text.file_kinds import is_code
from rootle.text.languages import DIAGRAMS
from rootle.types import (
    EXTRACTED,
    FILES,
    DocumentSection,
    FileMetadata,
    QueryInterpretation,
    ResultSource,
    SearchResponse,
    SearchResult,
    Span,
    SymbolAnswer,
    SymbolAspect,
)

_INTENTS: Final[Mapping[SymbolAspect, Intent]] = {
    "definitions": "symbol",
    "uses": "usage",
    "assignments": "usage",
    "reads": "usage",
    "tests": "test",
    "implementations": "usage",
}


@dataclass(frozen=True, slots=True)
class ResultPage:
    """One page of an answer."""

    results: tuple[SearchResult, ...]
    file_ids: Ids  # all files of the answer, best first
    degraded: tuple[str, ...]
    notes: tuple[str, ...]  # messages for the user
    confident: bool | None
    as_of_s: float  # Unix time from which recency was counted
    valid_until_s: float
    answer: RankedAnswer | None = None  # None for a page that was read from disk
    expansion: str = ""  # words from a language model that were searched with the question
    # The files that were found unchanged when this page was made. A cached page has none.
    unchanged: Collection[int] = ()

    @property
    def symbols(self) -> SymbolAnswer | None:
        """The answer to a question about a name. DiskCache does not store pages that have one."""
        return None if self.answer is None else self.answer.symbols

    @property
    def question(self) -> ParsedQuestion | None:
        """The parsed question, unless the page was read from disk."""
        return None if self.answer is None else self.answer.candidates.scoped.question


FindPage = Callable[[SearchRequest], ResultPage]


class PageStage(Protocol):
    """An optional stage that wraps all steps. It may skip them or change the page."""

    def __call__(self, find: FindPage, request: SearchRequest) -> ResultPage: ...


class ResponseStage(Protocol):
    """An optional stage that adds data, such as memories, to a finished response."""

    def __call__(self, request: SearchRequest, response: SearchResponse) -> SearchResponse: ...


class PresentStep:
    """Cuts pages from ranked answers, and converts them to responses."""

    def __init__(self, tree: WorkingTree | None) -> None:
        """Read lines from the files of `tree`, and check these files for changes.

        If `tree` is None, read the lines from the index.
        """
        self._tree = tree

    def __call__(self, request: SearchRequest, answer: RankedAnswer) -> ResultPage:
        """Return the requested page of an answer."""
        reader = ExcerptReader(self._tree, request.session.index, answer.states)
        return ResultPage(
            tuple(self._all_results(request, answer, reader)),
            answer.file_ids,
            answer.degraded,
            answer.notes,
            answer.confident,
            answer.as_of_s,
            answer.valid_until_s,
            answer,
            answer.candidates.scoped.question.expansion,
            reader.unchanged,
        )

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
        unchecked = [file_id for file_id in ids if file_id not in page.unchanged]
        if page.answer is None:  # the page was read from disk
            return self._tree.any_changed(request.session.index.files(unchecked).values())
        states = page.answer.states
        return self._tree.any_changed([states[file_id] for file_id in unchecked])

    def _all_results(
        self, request: SearchRequest, answer: RankedAnswer, reader: ExcerptReader
    ) -> Iterator[SearchResult]:
        first, end = request.offset, request.offset + request.limit
        for group in answer.groups():
            page = group.order[max(0, first) : max(0, end)]
            if page:
                yield from self._results(request, group, page, reader)
            first, end = first - len(group.order), end - len(group.order)

    def _results(
        self,
        request: SearchRequest,
        answer: RankedAnswer,
        page: Sequence[int],
        reader: ExcerptReader,
    ) -> Iterator[SearchResult]:
        index, states = request.session.index, answer.candidates.states
        file_ids = answer.candidates.inputs.files.ids[list(page)].tolist()
        chunks = score_chunks(index, answer, file_ids)
        selected = select_spans(index, answer, chunks, file_ids)
        all_spans = [span for spans in selected.by_file for span in spans]
        shown = iter(read_spans(reader.read, all_spans, selected.rows))
        first_chunks = [spans[0].chunk_id if spans else -1 for spans in selected.by_file]
        sources = _find_sources(answer, chunks, first_chunks)
        scores = answer.scores
        for at, file_id, spans, source in zip(
            page, file_ids, selected.by_file, sources, strict=True
        ):
            state = states[file_id]
            labeled = _label_spans(index, state, tuple(islice(shown, len(spans))))
            result = _make_result(state, labeled, source, min(answer.max_score, float(scores[at])))
            if request.explain:
                result = replace(result, explanation=_explain(answer, at))
            if state.language in DIAGRAMS or state.language == "markdown":
                result = _add_mentions(index, result, file_id)
            if answer.symbols is None and file_id in answer.lines:
                result = replace(result, matching_lines=tuple(answer.lines[file_id]))
            yield _add_omitted(result, answer, file_id)


def _add_omitted(result: SearchResult, answer: RankedAnswer, file_id: int) -> SearchResult:
    """Return a result with the paths of the files that are left out in favor of it."""
    duplicates = answer.duplicates.get(file_id, ())
    translations = answer.translations.get(file_id, ())
    if not duplicates and not translations:
        return result
    return replace(result, duplicates=duplicates, translations=translations)


def _make_result(
    state: FileState, spans: tuple[Span, ...], source: ResultSource, score: float
) -> SearchResult:
    first = spans[0] if spans else Span(1, 1, "", "")
    return SearchResult(
        file_path=state.path,
        start_line=first.start_line,
        end_line=first.end_line,
        snippet=first.snippet,
        score=round(min(1.0, score), 5),
        source=source,
        metadata=FileMetadata(_format_time(state.last_modified_s), state.language, state.size),
        scope=first.scope,
        more_spans=spans[1:],
        place=first.place,
        kind="code" if is_code(state.path, state.language) else "docs",
    )


def _add_mentions(index: IndexReader, result: SearchResult, file_id: int) -> SearchResult:
    if result.metadata.language == "markdown" and "->" not in result.snippet:
        return result
    from rootle.search.results.diagram_mentions import add_mentions, may_show_diagram

    return add_mentions(index, result, file_id) if may_show_diagram(result) else result


def _label_spans(index: IndexReader, state: FileState, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Return spans with the labels of their document sections, such as slides."""
    if state.source == FILES and state.encoding != EXTRACTED:
        return spans
    sections = index.read_sections(state.id)
    return tuple(replace(span, place=_find_place(span, sections)) for span in spans)


def _find_place(span: Span, sections: Sequence[DocumentSection]) -> str | None:
    for section in sections:
        if section.start_line <= span.start_line <= section.end_line:
            return section.label
    return None


def _explain(answer: RankedAnswer, at: int) -> Mapping[str, float]:
    """Return how much each feature contributed to the score of a file."""
    ranked = answer.ranked
    parts = dict(zip(NAMES, ranked.features[at].tolist(), strict=True))
    if ranked.learned is not None:
        parts["learned"] = float(ranked.learned[at])
    parts |= {name: float(values[at]) for name, values in ranked.signals.items()}
    scores = answer.reranker_scores
    reranker = {"reranker": round(scores[at], 5)} if at in scores else {}
    return {**reranker, **{name: round(value, 5) for name, value in parts.items() if value}}


def _find_sources(
    answer: RankedAnswer, chunks: ScoredChunks, chunk_ids: Sequence[int]
) -> list[ResultSource]:
    """Return which leg found each chunk, or "merged" for both."""
    ids, found = np.array(chunk_ids, dtype=np.int64), answer.candidates.inputs.chunks
    # A cosine may be negative; 0 means that the leg did not find the chunk.
    by_words = is_among(ids, found.ids[found.bm25 != 0]).tolist()
    by_vectors = is_among(ids, found.ids[found.dense != 0]).tolist()
    # A chunk that neither leg found counts as sparse if it contains a word of the question.
    has_words = is_among(ids, chunks.ids[chunks.has_words]).tolist()
    return [
        ("merged" if words else "dense") if vectors else "sparse" if words or has_word else "merged"
        for words, vectors, has_word in zip(by_words, by_vectors, has_words, strict=True)
    ]


@lru_cache(maxsize=4_096)  # all files of a commit have the same time
def _format_time(time_s: float | None) -> str | None:
    return None if time_s is None else format_timestamp(time_s)


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
