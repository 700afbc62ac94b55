"""Format results as Markdown for language models: code blocks with language and line numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rootle.serialization.brief import describe_cut, is_weak, shorten_weak
from rootle.serialization.citation import (
    cite,
    describe_commit_briefly,
    describe_renames,
    result_spans,
)
from rootle.serialization.memories import memories_as_markdown
from rootle.serialization.outside_text import describe_outside
from rootle.serialization.path_text import replace_unprintable
from rootle.types import PARTIAL_HISTORY, SearchResponse, SearchResult, Span

GAP: Final = "…"
_FENCE: Final = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_MIN_FENCE: Final = 3


def response_as_markdown(
    response: SearchResponse, question: str = "", *, is_brief: bool | None = None
) -> str:
    """Return the results, best first, and the memories; without results, return suggestions.

    If the response is not confident, the suggestions precede the results. If, in addition,
    `is_brief` is true, only a few lines of the best results follow: those with words of `question`.
    `is_brief` is true by default for results without context. Results with context may have to fit
    a token budget, so by default they are complete and have no suggestions.
    """
    is_brief = not _has_context(response) if is_brief is None else is_brief
    if not is_weak(response):
        return _as_markdown(response)
    cut = describe_cut(response) if is_brief else None
    notes = response.suggestions if starts_with_notes(response, is_brief=is_brief) else ()
    lines = [f"Note: {replace_unprintable(line)}\n" for line in (*notes, *([cut] if cut else []))]
    text = _as_markdown(shorten_weak(response, question) if is_brief else response)
    return "".join([*lines, "\n", text]) if lines else text


def starts_with_notes(response: SearchResponse, *, is_brief: bool) -> bool:
    """Return whether the Markdown of a response starts with its suggestions."""
    return is_weak(response) and (is_brief or not _has_context(response))


def _has_context(response: SearchResponse) -> bool:
    return any(result.context is not None for result in response.results)


def _as_markdown(response: SearchResponse) -> str:
    memories = memories_as_markdown(response.memories) if response.memories else ""
    if not response.results:
        lines = [*response.suggestions]
        # The note that not all commits were searched comes first, because it may explain the lack
        # of results.
        lines.insert(1 if PARTIAL_HISTORY in response.degraded else 0, "No results found.")
        text = "".join(f"{line}\n" for line in lines)
        return f"{text}\n{memories}" if memories else text
    return "".join(map(result_as_markdown, response.results)) + memories


def result_as_markdown(result: SearchResult) -> str:
    """Return the context of a result, or its spans if it has no context."""
    spans = select_passages(result)
    changed = result.context is not None and result.context.changed
    about = "" if result.commit is None else f" {describe_commit_briefly(result.commit)}"
    marks = describe_outside(result)
    if marks:
        about += f" ({'; '.join(marks)})"
    text = passages_as_markdown(
        result.file_path, result.metadata.language, spans, is_changed=changed, about=about
    )
    if result.commit is not None and (renames := describe_renames(result.commit)):
        text += f"{renames[:1].upper()}{renames[1:]}\n\n"
    return text + _mentions_as_markdown(result.mentions) if result.mentions else text


def _mentions_as_markdown(mentions: Mapping[str, str]) -> str:
    places = ", ".join(f"{name} {place}" for name, place in mentions.items())
    return f"Defined in: {replace_unprintable(places)}\n\n"


def select_passages(result: SearchResult) -> Sequence[Span]:
    """Return the passages of a result's context, or its spans in line order if it has none."""
    if result.context is not None:
        return result.context.passages
    return sorted(result_spans(result), key=lambda span: span.start_line)


def passages_as_markdown(
    path: str,
    language: str,
    spans: Sequence[Span],
    *,
    is_changed: bool = False,
    about: str = "",
) -> str:
    """Return the passages of one file in one code block, with an ellipsis between them.

    `about` follows the citation in the heading.
    """
    text = "".join(span.snippet for span in spans)
    longest = max((len(found) for found in _FENCE.findall(text)), default=_MIN_FENCE - 1)
    fence = "`" * max(_MIN_FENCE, 1 + longest)
    citation = cite(path, spans)
    note = " (changed since it was indexed)" if is_changed else ""
    lines = [f"## {citation}{about}{note}", f"{fence}{language}"]
    width = len(str(max((span.end_line for span in spans), default=0)))
    for index, span in enumerate(spans):
        if index:
            lines.append(GAP)
        lines += [
            f"{number:>{width}}  {line.rstrip()}".rstrip()
            for number, line in enumerate(span.snippet.split("\n"), start=span.start_line)
        ]
    return "\n".join([*lines, fence, "", ""])
