"""Split a document that has sections; no chunk spans two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rootle.ingest.chunking.chunker import Chunk, ChunkedText, limit_chunks
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.syntax.lines import Lines
from rootle.types import DocumentSection

SplitText = Callable[[str], ChunkedText]


def split_sections(
    text: str, sections: Sequence[DocumentSection], split: SplitText, max_file_chars: int
) -> ChunkedText:
    """Split each section, and the lines between sections, with `split`.

    Chunks get the title of their section as the outermost part of their scope.
    """
    chunks = _split_each(Lines(text), sections, split)
    return limit_chunks(chunks, text, max_file_chars, parsed=True)


def _split_each(
    lines: Lines, sections: Sequence[DocumentSection], split: SplitText
) -> Iterator[Chunk]:
    row = 0
    for section in sections:
        yield from _split_lines(lines, row, section.start_line - 1, split)
        row = min(section.end_line, len(lines))
        for chunk in _split_lines(lines, section.start_line - 1, row, split):
            scope = SCOPE_SEPARATOR.join(part for part in (section.title, chunk.scope) if part)
            yield replace(chunk, scope=scope)
    yield from _split_lines(lines, row, len(lines), split)


def _split_lines(lines: Lines, first: int, end: int, split: SplitText) -> Iterator[Chunk]:
    """Split lines first to end - 1; the positions of the chunks refer to the whole text."""
    if first >= end:
        return
    offset = lines.starts[first]
    for chunk in split(lines.text[offset : lines.starts[end] - 1]).chunks:
        yield replace(
            chunk,
            start_line=chunk.start_line + first,
            end_line=chunk.end_line + first,
            start=chunk.start + offset,
            end=chunk.end + offset,
        )
