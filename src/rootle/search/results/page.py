"""Step 5: present one page of a ranked answer as results with lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Protocol

import numpy as np

from rootle.config.fields import Config
from rootle.index.reader import FileState, IndexReader
from rootle.protocols import Ids
from rootle.rank.features import NAMES
from rootle.search.query.parse import ParsedQuestion
from rootle.search.request import SearchRequest
from rootle.search.results.shown_spans import (
    ScoredChunks,
    read_spans,
    score_chunks,
    select_spans,
)
from rootle.search.results.working_tree import ExcerptReader, WorkingTree
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
    ResultSource,
    SearchResult,
    Span,
    SymbolAnswer,
)


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


class PresentStep:
    """Cuts pages from ranked answers."""

    def __init__(self, tree: WorkingTree | None) -> None:
        """Read lines from the files of `tree`; if it is None, read them from the index."""
        self._tree = tree

    def __call__(self, request: SearchRequest, answer: RankedAnswer) -> ResultPage:
        """Return the requested page of an answer."""
        return ResultPage(
            tuple(self._all_results(request, answer)),
            answer.file_ids,
            answer.degraded,
            answer.notes,
            answer.confident,
            answer.as_of_s,
            answer.valid_until_s,
            answer,
            answer.candidates.scoped.question.expansion,
        )

    def _all_results(self, request: SearchRequest, answer: RankedAnswer) -> Iterator[SearchResult]:
        first, end = request.offset, request.offset + request.limit
        for group in answer.groups():
            page = group.order[max(0, first) : max(0, end)]
            if page:
                yield from self._results(request, group, page)
            first, end = first - len(group.order), end - len(group.order)

    def _results(
        self, request: SearchRequest, answer: RankedAnswer, page: Sequence[int]
    ) -> Iterator[SearchResult]:
        index, states = request.session.index, answer.candidates.states
        file_ids = answer.candidates.inputs.files.ids[list(page)].tolist()
        chunks = score_chunks(index, answer, file_ids)
        selected = select_spans(index, answer, chunks, file_ids)
        read = ExcerptReader(self._tree, index, states).read
        all_spans = [span for spans in selected.by_file for span in spans]
        shown = iter(read_spans(read, all_spans, selected.rows))
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


class ContextExpansion:
    """Pipeline stage: add context to the results of queries that ask for it."""

    def __init__(self, config: Config, tree: WorkingTree | None) -> None:
        """Read lines from the files of `tree`; if it is None, read them from the index."""
        self._config = config
        self._tree = tree

    def __call__(self, find: FindPage, request: SearchRequest) -> ResultPage:
        """Return the page with expanded results. Results without any line to show are left out.

        If no result is left, a note gives the reason.
        """
        page, query = find(request), request.query
        if not (query.context or query.budget is not None or query.exclude):
            return page
        from rootle.search.results.context import expand_results, read_files, read_limits

        ids = page.file_ids[request.offset : request.offset + request.limit].tolist()
        files = read_files(request.session.index, self._tree, ids)
        limits = read_limits(self._config, query)
        expanded = expand_results(page.results, files, limits)
        notes = page.notes
        if page.results and not expanded:
            has_lines = bool(expand_results(page.results, files, replace(limits, budget=None)))
            notes = (*notes, _describe_empty(query.budget, has_lines=has_lines))
        return replace(page, results=expanded, notes=notes)


def _describe_empty(budget: int | None, *, has_lines: bool) -> str:
    if has_lines:
        return f"files match, but a budget of {budget} tokens is too small for a passage; raise it"
    return "files match, but all of their lines that would be shown are excluded"


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
    from rootle.search.results.diagram_mentions import add_mentions, shows_diagram

    return add_mentions(index, result, file_id) if shows_diagram(result) else result


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
