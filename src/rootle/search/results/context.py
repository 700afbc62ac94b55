"""Results widened to their surroundings, within a limit of lines or a budget of tokens.

The lines that were found come first, then the whole function where it fits and else its signature
and doc comment, then lines before and after, then what is imported for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from rootle.config.fields import Config
from rootle.index.reader import ChunkRow
from rootle.search.results.current_text import CurrentText
from rootle.search.results.enclosing_scope import Range, enclosing_unit, head_of, imports_in_reach
from rootle.search.results.exclusions import parse_exclusions
from rootle.serialization.citation import result_spans
from rootle.serialization.markdown import passages_as_markdown
from rootle.text.terms import CHARS_PER_TOKEN, WORD
from rootle.types import Context, SearchQuery, SearchResult, Span

_TIERS: Final = 3
# Fewer lines of a span that does not fit as a whole are not worth their heading.
_FEWEST_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Widening:
    """How far results are widened."""

    before: int
    after: int
    max_lines: int  # of one result, where there is no budget
    budget: int | None = None  # tokens of all results together, as Markdown
    seen: tuple[str, ...] = ()


def widening_of(config: Config, query: SearchQuery) -> Widening:
    return Widening(
        config.context_before_lines,
        config.context_after_lines,
        config.max_context_lines,
        query.budget,
        query.exclude,
    )


@dataclass(frozen=True, slots=True)
class FileNow:
    """A result's file: its lines now, and the chunks that it was cut into."""

    text: CurrentText
    chunks: Sequence[ChunkRow]


def widened(
    results: Sequence[SearchResult],
    file_of: Callable[[SearchResult], FileNow | None],
    widening: Widening,
) -> tuple[SearchResult, ...]:
    """The results with their context; those whose file is gone or of which nothing is new left out.

    Of a result nothing else changes.
    """
    seen = parse_exclusions(widening.seen)
    drafts = []
    for result in results:
        now = file_of(result)
        if now is not None:
            drafts.append(_draft(result, now, widening, seen.get(result.file_path, [])))
    if widening.budget is None:
        for draft in drafts:
            _fill_lines(draft, widening.max_lines)
    else:
        _fill_budget(drafts, widening.budget * CHARS_PER_TOKEN)
    return tuple(
        replace(draft.result, context=Context(draft.passages(draft.chosen), draft.text.changed))
        for draft in drafts
        if draft.chosen
    )


@dataclass(slots=True)
class _Draft:
    """The lines of one result's file that are shown, and those that are wished for."""

    result: SearchResult
    text: CurrentText
    seen: Sequence[range]
    wishes: list[_Wish] = field(default_factory=list)
    chosen: set[int] = field(default_factory=set)

    def passages(self, chosen: Iterable[int]) -> tuple[Span, ...]:
        ranges = [self._trimmed(first, last) for first, last in _ranges(chosen)]
        return tuple(self._span(first, last) for first, last in ranges)

    def _trimmed(self, first: int, last: int) -> Range:
        """Without empty lines around it."""
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

    def unseen(self, numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(number for number in numbers if not self.is_seen(number))

    def is_seen(self, number: int) -> bool:
        return any(number in some for some in self.seen)

    def size(self, chosen: Iterable[int]) -> int:
        """Characters of the Markdown with these lines."""
        spans = self.passages(chosen)
        if not spans:
            return 0
        language = self.result.metadata.language
        changed = self.text.changed
        return len(passages_as_markdown(self.result.file_path, language, spans, is_changed=changed))


@dataclass(frozen=True, slots=True)
class _Wish:
    """Lines that are wanted: in tier 0 the found ones, then their function, then what is around."""

    tier: int
    value: float
    lines: tuple[int, ...]  # in the order in which they are wanted
    is_whole: bool = False  # all of them or none
    instead: tuple[int, ...] = ()  # where they do not fit


def _draft(result: SearchResult, now: FileNow, widening: Widening, seen: Sequence[range]) -> _Draft:
    lines = now.text.lines
    draft = _Draft(result, now.text, seen)
    for rank, span in enumerate(result_spans(result), start=1):
        shift = _shift(span, lines) if now.text.changed else 0
        first, last = span.start_line + shift, min(span.end_line + shift, len(lines))
        # The best span of a result stands for all of its score, its second for half of it.
        value = result.score / rank
        found = draft.unseen(range(first, last + 1))
        if not found:
            continue
        draft.wishes.append(_Wish(0, value, found))
        unit = enclosing_unit(now.chunks, span.start_line)
        if unit is not None:
            draft.wishes.append(_whole_unit(draft, unit, shift, value))
        around = _around(first, last, widening, len(lines))
        draft.wishes.append(_Wish(2, value, draft.unseen(around)))
    return draft


def _whole_unit(draft: _Draft, unit: Range, shift: int, value: float) -> _Wish:
    lines = draft.text.lines
    first, last = max(1, unit[0] + shift), min(unit[1] + shift, len(lines))
    head = _numbers(head_of(lines, (first, last))) if first <= last else ()
    whole = draft.unseen(range(first, last + 1))
    return _Wish(1, value, whole, is_whole=True, instead=draft.unseen(head))


def _around(first: int, last: int, widening: Widening, end: int) -> Iterator[int]:
    """The lines after and before, the nearest first."""
    for distance in range(1, max(widening.before, widening.after) + 1):
        if distance <= widening.after and last + distance <= end:
            yield last + distance
        if distance <= widening.before and first - distance >= 1:
            yield first - distance


def _shift(span: Span, lines: Sequence[str]) -> int:
    """How far a span has moved in a changed file: to where its lines, or its first, are now."""
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

    for wishes in _in_order([draft]):
        for _, wish in wishes:
            _grant(draft, wish, fits)
        _add_imports(draft, fits)


def _fill_budget(drafts: Sequence[_Draft], chars: int) -> None:
    sizes = {id(draft): 0 for draft in drafts}

    def fits_in(draft: _Draft) -> Callable[[set[int]], bool]:
        others = sum(sizes.values()) - sizes[id(draft)]
        return lambda chosen: others + draft.size(chosen) <= chars

    for tier, wishes in enumerate(_in_order(drafts)):
        for draft, wish in wishes:
            if tier == 0 or draft.chosen:
                _grant(draft, wish, fits_in(draft), _FEWEST_LINES if tier == 0 else 1)
                sizes[id(draft)] = draft.size(draft.chosen)
        for draft in drafts if tier else ():
            _add_imports(draft, fits_in(draft))
            sizes[id(draft)] = draft.size(draft.chosen)


def _in_order(drafts: Sequence[_Draft]) -> list[list[tuple[_Draft, _Wish]]]:
    """The wishes of each tier, those for the most valuable spans first."""
    wishes = [(draft, wish) for draft in drafts for wish in draft.wishes]
    wishes.sort(key=lambda pair: -pair[1].value)
    return [[pair for pair in wishes if pair[1].tier == tier] for tier in range(_TIERS)]


def _grant(draft: _Draft, wish: _Wish, fits: Callable[[set[int]], bool], fewest: int = 1) -> None:
    """Choose the lines of a wish, or as many of them as fit."""
    if draft.chosen.issuperset(wish.lines):
        return
    if fits(draft.chosen | set(wish.lines)):
        draft.chosen.update(wish.lines)
    elif wish.is_whole:
        if fits(draft.chosen | set(wish.instead)):
            draft.chosen.update(wish.instead)
    else:
        most = _most_that_fit(draft, wish.lines, fits)
        if most >= fewest:
            draft.chosen.update(wish.lines[:most])


def _most_that_fit(draft: _Draft, lines: Sequence[int], fits: Callable[[set[int]], bool]) -> int:
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
    for line in imports_in_reach(lines, used, min(draft.chosen)):
        if not draft.is_seen(line) and fits(draft.chosen | {line}):
            draft.chosen.add(line)


def _numbers(lines: Range) -> range:
    return range(lines[0], lines[1] + 1)


def _ranges(numbers: Iterable[int]) -> list[Range]:
    """Runs of neighbouring lines."""
    runs = []
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        runs.append((members[0], members[-1]))
    return runs
