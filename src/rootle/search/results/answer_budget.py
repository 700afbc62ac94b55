"""Cuts a complete response to a token budget.

`context_budget` cuts only the context of results from one index. A response can contain more:
results from several indexes, warnings and memories.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rootle.serialization.markdown import response_as_markdown
from rootle.text.terms import CHARS_PER_TOKEN
from rootle.types import Context, SearchResponse, SearchResult, Span

# The minimum number of lines that a cut result keeps. Fewer lines are not worth their heading.
_MIN_LINES: Final = 3


def fit_budget(response: SearchResponse, tokens: int) -> SearchResponse:
    """Cut a response so that its Markdown has at most `tokens` tokens.

    The last results are cut or left out first. Memories are added if they fit into the rest of the
    budget. A response that is too large even without results stays too large.
    """
    chars = tokens * CHARS_PER_TOKEN
    if _size(response) <= chars:
        return response
    fitting = _cut_results(replace(response, memories=()), chars)
    for memory in response.memories:
        longer = replace(fitting, memories=(*fitting.memories, memory))
        if _size(longer) <= chars:
            fitting = longer
    return fitting


def _size(response: SearchResponse) -> int:
    return len(response_as_markdown(response, is_brief=False))


def _cut_results(response: SearchResponse, chars: int) -> SearchResponse:
    if _size(response) <= chars:
        return response
    results = response.results
    while results:
        *others, last = results
        rest = chars - (_size(replace(response, results=tuple(others))) if others else 0)
        if rest > 0:
            results = (*others, *_cut_context(last, response, rest))
            break
        results = tuple(others)
    return replace(response, results=results)


def _cut_context(
    result: SearchResult, response: SearchResponse, chars: int
) -> tuple[SearchResult, ...]:
    """Return a result with as many lines of its context as fit, in a tuple; () if too few fit."""
    context = result.context or Context((), changed=False)
    total = sum(len(span.snippet.split("\n")) for span in context.passages)

    def shorten(count: int) -> SearchResult:
        passages = _first_lines(context.passages, count)
        return replace(result, context=replace(context, passages=passages))

    def measure_size(count: int) -> int:
        return _size(replace(response, results=(shorten(count),))) if count else 0

    count = bisect_right(range(max(1, total)), chars, key=measure_size) - 1
    return (shorten(count),) if count >= min(_MIN_LINES, total - 1) > 0 else ()


def _first_lines(passages: Sequence[Span], count: int) -> tuple[Span, ...]:
    found = []
    for span in passages:
        lines = span.snippet.split("\n")[:count]
        if not lines:
            break
        end_line = span.start_line + len(lines) - 1
        found.append(replace(span, end_line=end_line, snippet="\n".join(lines)))
        count -= len(lines)
    return tuple(found)
