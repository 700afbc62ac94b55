"""Results as Markdown for a reader that is a model: fenced, with language and line numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rootle.serialization.citation import cite, result_spans
from rootle.types import Memory, SearchResponse, SearchResult, Span

GAP: Final = "…"
_FENCE: Final = re.compile(r"^\s*(`{3,})", re.MULTILINE)


def response_as_markdown(response: SearchResponse) -> str:
    """All results, best first; what is to be said where there is none."""
    memories = memories_as_markdown(response.memories) if response.memories else ""
    if not response.results:
        said = "".join(f"{line}\n" for line in ("No results found.", *response.suggestions))
        return f"{said}\n{memories}" if memories else said
    return "".join(map(result_as_markdown, response.results)) + memories


def result_as_markdown(result: SearchResult) -> str:
    """One result: its context where it has one, else the spans that were found."""
    spans = passages_of(result)
    changed = result.context is not None and result.context.changed
    return passages_as_markdown(
        result.file_path, result.metadata.language, spans, is_changed=changed
    )


def passages_of(result: SearchResult) -> Sequence[Span]:
    if result.context is not None:
        return result.context.passages
    return sorted(result_spans(result), key=lambda span: span.start_line)


def passages_as_markdown(
    path: str, language: str, spans: Sequence[Span], *, is_changed: bool = False
) -> str:
    """The passages of one file in one fence, with a sign where lines are left out."""
    text = "".join(span.snippet for span in spans)
    fence = "`" * max(3, 1 + max((len(found) for found in _FENCE.findall(text)), default=2))
    citation = cite(_printable(path), spans)
    note = " (changed since it was indexed)" if is_changed else ""
    lines = [f"## {citation}{note}", f"{fence}{language}"]
    width = len(str(max((span.end_line for span in spans), default=0)))
    for at, span in enumerate(spans):
        if at:
            lines.append(GAP)
        lines += [
            f"{number:>{width}}  {line.rstrip()}".rstrip()
            for number, line in enumerate(span.snippet.split("\n"), start=span.start_line)
        ]
    return "\n".join([*lines, fence, "", ""])


def memories_as_markdown(memories: Sequence[Memory]) -> str:
    """What was remembered, under a heading that says so."""
    lines = [f"- {memory_as_text(memory)}" for memory in memories]
    return "\n".join(["## From memory", *lines, "", ""])


def memory_as_text(memory: Memory) -> str:
    """When it was told, what, and what it is about; further lines are indented."""
    text = "\n  ".join(memory.text.split("\n"))
    return f"[{memory.created_at}] {text}{_remarks(memory)}"


def _remarks(memory: Memory) -> str:
    places = [
        _printable(f"{about.path}#{about.symbol}" if about.symbol else about.path)
        for about in memory.about
    ]
    remarks = [f"told {memory.count} times"] if memory.count > 1 else []
    remarks += [f"about {', '.join(places)}"] if places else []
    remarks += ["may be stale: a file changed since"] if memory.possibly_stale else []
    return f" ({'; '.join(remarks)})" if remarks else ""


def _printable(path: str) -> str:
    """A file name may hold a line break, and must not end the heading."""
    return "".join(char if char.isprintable() else "\ufffd" for char in path)
