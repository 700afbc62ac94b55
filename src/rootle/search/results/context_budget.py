"""Cuts the context of results to a token budget or a limit of lines.

Lines are added in this order, as long as they fit: the lines of the result; the whole definition,
or its head if it is too long; the lines before and after the result. An import statement is added
if the chosen lines use a name that it imports. Without a budget, the best span is followed
immediately by the lines before and after it, as the specification requires.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.search.results.enclosing_scope import find_imports
from rootle.search.results.working_tree import CurrentText
from rootle.serialization.citation import result_spans
from rootle.serialization.markdown import passages_as_markdown
from rootle.serialization.path_text import group_lines
from rootle.text.definition_head import LineInterval
from rootle.text.terms import WORD
from rootle.types import SearchResult, Span

_TIERS: Final = 3
# A part of a span with fewer lines is not worth the heading that it needs.
_MIN_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class LineRequest:
    """Lines to add if they fit. Tier 0: result; tier 1: definition; tier 2: surrounding lines."""

    tier: int
    value: float
    lines: tuple[int, ...]  # most important first
    is_whole: bool = False  # add all of these lines or none
    fallback: tuple[int, ...] = ()  # added if `lines` do not fit


@dataclass(slots=True)
class ContextDraft:
    """The context of one result while lines are added to it."""

    result: SearchResult
    text: CurrentText
    excluded: Sequence[range]  # lines that the caller excludes
    with_excluded_word: Collection[int] = frozenset()  # the lines that contain an excluded word
    requests: list[LineRequest] = field(default_factory=list)
    chosen: set[int] = field(default_factory=set)  # the lines to show

    def passages(self, chosen: Iterable[int]) -> tuple[Span, ...]:
        """Return the chosen lines as spans."""
        ranges = [self._trim(first, last) for first, last in group_lines(chosen)]
        return tuple(self._span(first, last) for first, last in ranges)

    def drop_excluded(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """Return the lines that are not excluded."""
        return tuple(number for number in numbers if not self.is_excluded(number))

    def is_excluded(self, number: int) -> bool:
        """Return whether the caller or an excluded word excludes this line."""
        return number in self.with_excluded_word or any(number in some for some in self.excluded)

    def has_excluded_word(self, numbers: Iterable[int]) -> bool:
        """Return whether one of these lines contains an excluded word."""
        return any(number in self.with_excluded_word for number in numbers)

    def size(self, chosen: Iterable[int]) -> int:
        """Return the number of characters of the chosen lines as Markdown."""
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


def fill_lines(draft: ContextDraft, max_lines: int) -> None:
    """Add the requested lines and imports to the draft of one result, at most `max_lines`."""

    def fits(chosen: set[int]) -> bool:
        return len(chosen) <= max_lines

    own, definitions, around = ([r for _, r in rs] for rs in _group_by_tier([draft]))
    for requests in (own[:1], around[:1], own[1:], definitions, around[1:]):
        for request in requests:
            _add_lines(draft, request, fits)
        _add_imports(draft, fits)


def fill_budget(drafts: Sequence[ContextDraft], chars: int) -> None:
    """Add the requested lines to drafts, at most `chars` characters of Markdown in total."""
    sizes = {id(draft): 0 for draft in drafts}

    def fits_in(draft: ContextDraft) -> Callable[[set[int]], bool]:
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


def _group_by_tier(drafts: Sequence[ContextDraft]) -> list[list[tuple[ContextDraft, LineRequest]]]:
    """Return the requests of each tier, most valuable first."""
    pairs = [(draft, request) for draft in drafts for request in draft.requests]
    pairs.sort(key=lambda pair: -pair[1].value)
    return [[pair for pair in pairs if pair[1].tier == tier] for tier in range(_TIERS)]


def _add_lines(
    draft: ContextDraft, request: LineRequest, fits: Callable[[set[int]], bool], min_lines: int = 1
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


def _count_fitting(
    draft: ContextDraft, lines: Sequence[int], fits: Callable[[set[int]], bool]
) -> int:
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(draft.chosen | set(lines[:middle])):
            low = middle
        else:
            high = middle - 1
    return low


def _add_imports(draft: ContextDraft, fits: Callable[[set[int]], bool]) -> None:
    if not draft.chosen:
        return
    lines = draft.text.lines
    used = {word for at in draft.chosen for word in WORD.findall(lines[at - 1])}
    for line in find_imports(lines, used, min(draft.chosen)):
        if not draft.is_excluded(line) and fits(draft.chosen | {line}):
            draft.chosen.add(line)
