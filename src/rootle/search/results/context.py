"""The context of results, within a limit of lines or a budget of tokens.

Lines are added in this order: the lines of the result; the whole definition, or only its head if it
is too long; the lines before and after. An import statement is added if the chosen lines use a name
that it imports. Without a budget, the lines before and after the best span are added directly after
this span, as the specification requires.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rootle.config.fields import Config
from rootle.index.reader import ChunkRow, IndexReader
from rootle.search.request import parse_exclusions
from rootle.search.results.enclosing_scope import find_definition, find_imports
from rootle.search.results.working_tree import CurrentText, WorkingTree, indexed_text
from rootle.serialization.citation import result_spans
from rootle.serialization.markdown import passages_as_markdown
from rootle.text.definition_head import LineInterval, find_head, group_lines
from rootle.text.terms import CHARS_PER_TOKEN, WORD
from rootle.types import Context, SearchQuery, SearchResult, Span

_TIERS: Final = 3
# A part of a span with fewer lines is not worth the heading that it needs.
_MIN_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How far results are expanded."""

    before: int  # lines
    after: int
    max_lines: int  # per result, if there is no budget
    budget: int | None = None  # tokens of all results together, as Markdown
    exclude: tuple[str, ...] = ()  # "path:start-end"


def read_limits(config: Config, query: SearchQuery) -> ContextLimits:
    """Return the limits of a configuration and a query."""
    return ContextLimits(
        config.context_before_lines,
        config.context_after_lines,
        config.max_context_lines,
        query.budget,
        query.exclude,
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
            files[state.path] = FileText(text, index.chunks_of(state.id))
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
            _fill_lines(draft, limits.max_lines)
    else:
        _fill_budget(drafts, limits.budget * CHARS_PER_TOKEN)
    return tuple(
        replace(draft.result, context=Context(draft.passages(draft.chosen), draft.text.changed))
        for draft in drafts
        if draft.chosen
    )


@dataclass(slots=True)
class _Draft:
    """The context of one result while lines are added to it."""

    result: SearchResult
    text: CurrentText
    excluded: Sequence[range]
    requests: list[_LineRequest] = field(default_factory=list)
    chosen: set[int] = field(default_factory=set)  # line numbers

    def passages(self, chosen: Iterable[int]) -> tuple[Span, ...]:
        """Return the chosen lines as spans."""
        ranges = [self._trim(first, last) for first, last in group_lines(chosen)]
        return tuple(self._span(first, last) for first, last in ranges)

    def drop_excluded(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """Return the lines that are not excluded."""
        return tuple(number for number in numbers if not self.is_excluded(number))

    def is_excluded(self, number: int) -> bool:
        return any(number in some for some in self.excluded)

    def size(self, chosen: Iterable[int]) -> int:
        """Return the length of the chosen lines as Markdown, in characters."""
        spans = self.passages(chosen)
        if not spans:
            return 0
        language = self.result.metadata.language
        changed = self.text.changed
        return len(passages_as_markdown(self.result.file_path, language, spans, is_changed=changed))

    def _trim(self, first: int, last: int) -> LineInterval:
        """Return a range without blank lines at its start and end."""
        lines = self.text.lines
        while first < last and not lines[first - 1].strip():
            first += 1
        while first < last and not lines[last - 1].strip():
            last -= 1
        return first, last

    def _span(self, first: int, last: int) -> Span:
        spans = (
            span
            for span in result_spans(self.result)
            if span.start_line <= last and first <= span.end_line
        )
        found = next(spans, None)
        scope, place = (found.scope, found.place) if found is not None else ("", None)
        return Span(first, last, "\n".join(self.text.lines[first - 1 : last]), scope, place)


@dataclass(frozen=True, slots=True)
class _LineRequest:
    """Lines to add if they fit. Tier 0: result; tier 1: definition; tier 2: surrounding lines."""

    tier: int
    value: float
    lines: tuple[int, ...]  # most important first
    is_whole: bool = False  # add all of them or none
    fallback: tuple[int, ...] = ()  # added if `lines` do not fit


def _draft_context(
    result: SearchResult, file: FileText, limits: ContextLimits, excluded: Sequence[range]
) -> _Draft:
    lines = file.text.lines
    draft = _Draft(result, file.text, excluded)
    for rank, span in enumerate(result_spans(result), start=1):
        shift = _find_shift(span, lines) if file.text.changed else 0
        first, last = span.start_line + shift, min(span.end_line + shift, len(lines))
        # The best span has the full score of its result, the second span half of it, and so on.
        value = result.score / rank
        found = draft.drop_excluded(range(first, last + 1))
        if not found:
            continue
        draft.requests.append(_LineRequest(0, value, found))
        definition = find_definition(file.chunks, span.start_line)
        if definition is not None:
            draft.requests.append(_definition_request(draft, definition, shift, value))
        around = _lines_around(first, last, limits, len(lines))
        draft.requests.append(_LineRequest(2, value, draft.drop_excluded(around)))
    return draft


def _definition_request(
    draft: _Draft, definition: LineInterval, shift: int, value: float
) -> _LineRequest:
    lines = draft.text.lines
    first, last = max(1, definition[0] + shift), min(definition[1] + shift, len(lines))
    head = _line_numbers(find_head(lines, (first, last))) if first <= last else ()
    whole = draft.drop_excluded(range(first, last + 1))
    return _LineRequest(1, value, whole, is_whole=True, fallback=draft.drop_excluded(head))


def _lines_around(first: int, last: int, limits: ContextLimits, end: int) -> Iterator[int]:
    """Yield the lines after and before a span, the nearest first."""
    for distance in range(1, max(limits.before, limits.after) + 1):
        if distance <= limits.after and last + distance <= end:
            yield last + distance
        if distance <= limits.before and first - distance >= 1:
            yield first - distance


def _find_shift(span: Span, lines: Sequence[str]) -> int:
    """Return how many lines a span has moved down in a changed file, by searching for its text."""
    wanted = tuple(span.snippet.split("\n"))
    for some in (wanted, wanted[:1]):
        starts = range(len(lines) - len(some) + 1)
        places = [at for at in starts if lines[at : at + len(some)] == some]
        if places and some[0].strip():
            return min(places, key=lambda at: abs(at + 1 - span.start_line)) + 1 - span.start_line
    return min(0, len(lines) - span.end_line) if span.start_line > len(lines) else 0


def _fill_lines(draft: _Draft, max_lines: int) -> None:
    def fits(chosen: set[int]) -> bool:
        return len(chosen) <= max_lines

    own, definitions, around = ([r for _, r in rs] for rs in _group_by_tier([draft]))
    for requests in (own[:1], around[:1], own[1:], definitions, around[1:]):
        for request in requests:
            _add_lines(draft, request, fits)
        _add_imports(draft, fits)


def _fill_budget(drafts: Sequence[_Draft], chars: int) -> None:
    sizes = {id(draft): 0 for draft in drafts}

    def fits_in(draft: _Draft) -> Callable[[set[int]], bool]:
        others = sum(sizes.values()) - sizes[id(draft)]
        return lambda chosen: others + draft.size(chosen) <= chars

    for tier, requests in enumerate(_group_by_tier(drafts)):
        for draft, request in requests:
            if tier == 0 or draft.chosen:
                _add_lines(draft, request, fits_in(draft), _MIN_LINES if tier == 0 else 1)
                sizes[id(draft)] = draft.size(draft.chosen)
        for draft in drafts if tier else ():
            _add_imports(draft, fits_in(draft))
            sizes[id(draft)] = draft.size(draft.chosen)


def _group_by_tier(drafts: Sequence[_Draft]) -> list[list[tuple[_Draft, _LineRequest]]]:
    """Return the requests of each tier, most valuable first."""
    pairs = [(draft, request) for draft in drafts for request in draft.requests]
    pairs.sort(key=lambda pair: -pair[1].value)
    return [[pair for pair in pairs if pair[1].tier == tier] for tier in range(_TIERS)]


def _add_lines(
    draft: _Draft, request: _LineRequest, fits: Callable[[set[int]], bool], min_lines: int = 1
) -> None:
    """Add the requested lines, or as many of them as fit."""
    if draft.chosen.issuperset(request.lines):
        return
    if fits(draft.chosen | set(request.lines)):
        draft.chosen.update(request.lines)
    elif request.is_whole:
        if fits(draft.chosen | set(request.fallback)):
            draft.chosen.update(request.fallback)
    else:
        count = _count_fitting(draft, request.lines, fits)
        if count >= min_lines:
            draft.chosen.update(request.lines[:count])


def _count_fitting(draft: _Draft, lines: Sequence[int], fits: Callable[[set[int]], bool]) -> int:
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(draft.chosen | set(lines[:middle])):
            low = middle
        else:
            high = middle - 1
    return low


def _add_imports(draft: _Draft, fits: Callable[[set[int]], bool]) -> None:
    if not draft.chosen:
        return
    lines = draft.text.lines
    used = {word for at in draft.chosen for word in WORD.findall(lines[at - 1])}
    for line in find_imports(lines, used, min(draft.chosen)):
        if not draft.is_excluded(line) and fits(draft.chosen | {line}):
            draft.chosen.add(line)


def _line_numbers(lines: LineInterval) -> range:
    return range(lines[0], lines[1] + 1)
