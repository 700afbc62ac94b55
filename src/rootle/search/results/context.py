"""Adds context to results: the surrounding definition, nearby lines and imports.

`context_budget` cuts the context to a token budget or a limit of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rootle.config.fields import Config
from rootle.index.reader import ChunkRow, IndexReader
from rootle.search.query.operators import lines_with_match
from rootle.search.request import SearchRequest, parse_exclusions
from rootle.search.results.context_budget import (
    ContextDraft,
    LineRequest,
    fill_budget,
    fill_lines,
)
from rootle.search.results.enclosing_scope import find_definition
from rootle.search.results.page import FindPage, ResultPage
from rootle.search.results.working_tree import CurrentText, WorkingTree, indexed_text
from rootle.serialization.citation import result_spans
from rootle.text.definition_head import LineInterval, find_head
from rootle.text.terms import CHARS_PER_TOKEN
from rootle.types import Context, SearchResult, Span


def expand_page(
    config: Config, tree: WorkingTree | None, find: FindPage, request: SearchRequest
) -> ResultPage:
    """Pipeline stage: add context to the results. Leave out results without any line to show.

    If no result is left, a note gives the reason. Lines are read from the files of `tree`; if it is
    None, they are read from the index.
    """
    page, query = find(request), request.query
    ids = page.file_ids[request.offset : request.offset + request.limit].tolist()
    files = read_files(request.session.index, tree, ids)
    limits = _read_limits(config, request)
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


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """The limits of the context that is added to results."""

    before: int  # lines before a span
    after: int  # lines after a span
    max_lines: int  # per result, if there is no budget
    budget: int | None = None  # tokens of all results together, as Markdown
    exclude: tuple[str, ...] = ()  # "path:start-end"
    excluded_words: re.Pattern[str] | None = None  # matches the lines to leave out


def _read_limits(config: Config, request: SearchRequest) -> ContextLimits:
    """Return the limits of a configuration and a query."""
    query = request.query
    return ContextLimits(
        config.context_before_lines,
        config.context_after_lines,
        config.max_context_lines,
        query.budget,
        query.exclude,
        request.parsed.excluded_pattern,
    )


@dataclass(frozen=True, slots=True)
class FileText:
    """The current lines of a file, and its chunks."""

    text: CurrentText
    chunks: Sequence[ChunkRow]


def read_files(
    index: IndexReader, tree: WorkingTree | None, file_ids: Iterable[int]
) -> dict[str, FileText]:
    """Return the files that can be read, by path. If `tree` is None, read the indexed texts."""
    files = {}
    for state in index.files(file_ids).values():
        text = indexed_text(state, index) if tree is None else tree.read_current(state, index)
        if text is not None:
            files[state.path] = FileText(text, index.list_chunks(state.id))
    return files


def expand_results(
    results: Iterable[SearchResult], files: Mapping[str, FileText], limits: ContextLimits
) -> tuple[SearchResult, ...]:
    """Return results with their context. Results without any line to show are left out."""
    excluded = parse_exclusions(limits.exclude)
    drafts = [
        _draft_context(result, files[path], limits, excluded.get(path, []))
        for result in results
        if (path := result.file_path) in files
    ]
    if limits.budget is None:
        for draft in drafts:
            fill_lines(draft, limits.max_lines)
    else:
        fill_budget(drafts, limits.budget * CHARS_PER_TOKEN)
    return tuple(
        replace(draft.result, context=Context(draft.passages(draft.chosen), draft.text.changed))
        for draft in drafts
        if draft.chosen
    )


def _draft_context(
    result: SearchResult, file: FileText, limits: ContextLimits, excluded: Sequence[range]
) -> ContextDraft:
    lines = file.text.lines
    with_words = lines_with_match(limits.excluded_words, lines)
    draft = ContextDraft(result, file.text, excluded, with_words)
    for rank, span in enumerate(result_spans(result), start=1):
        shift = _find_shift(span, lines) if file.text.changed else 0
        first, last = span.start_line + shift, min(span.end_line + shift, len(lines))
        # The best span has the score of the result, the second span half of it, the third a third.
        value = result.score / rank
        found = draft.drop_excluded(range(first, last + 1))
        if not found:
            continue
        draft.requests.append(LineRequest(0, value, found))
        definition = find_definition(file.chunks, span.start_line)
        if definition is not None:
            draft.requests.append(_definition_request(draft, definition, shift, value))
        around = _lines_around(first, last, limits, len(lines))
        draft.requests.append(LineRequest(2, value, draft.drop_excluded(around)))
    return draft


def _definition_request(
    draft: ContextDraft, definition: LineInterval, shift: int, value: float
) -> LineRequest:
    lines = draft.text.lines
    first, last = max(1, definition[0] + shift), min(definition[1] + shift, len(lines))
    head = _line_numbers(find_head(lines, (first, last))) if first <= last else ()
    shown_head = draft.drop_excluded(head)
    numbers = range(first, last + 1)
    # If lines were missing from the middle, the definition would be hard to read: show its head.
    whole = shown_head if draft.has_excluded_word(numbers) else draft.drop_excluded(numbers)
    return LineRequest(1, value, whole, is_whole=True, fallback=shown_head)


def _lines_around(first: int, last: int, limits: ContextLimits, end: int) -> Iterator[int]:
    """Yield the lines after and before a span, the nearest first."""
    for distance in range(1, max(limits.before, limits.after) + 1):
        if distance <= limits.after and last + distance <= end:
            yield last + distance
        if distance <= limits.before and first - distance >= 1:
            yield first - distance


def _find_shift(span: Span, lines: Sequence[str]) -> int:
    """Search a changed file for the text of a span. Return how many lines it has moved down."""
    wanted = tuple(span.snippet.split("\n"))
    for some in (wanted, wanted[:1]):
        starts = range(len(lines) - len(some) + 1)
        places = [at for at in starts if lines[at : at + len(some)] == some]
        if places and some[0].strip():
            return min(places, key=lambda at: abs(at + 1 - span.start_line)) + 1 - span.start_line
    return min(0, len(lines) - span.end_line) if span.start_line > len(lines) else 0


def _line_numbers(lines: LineInterval) -> range:
    return range(lines[0], lines[1] + 1)
