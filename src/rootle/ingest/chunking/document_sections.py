"""Split a document that has sections; no chunk spans two of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rootle.ingest.chunking.chunker import Chunk, ChunkedText, limit_chunks
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.syntax.blocks.outline import read_blocks
from rootle.syntax.lines import Lines, Name
from rootle.types import DocumentSection

SplitText = Callable[[str], ChunkedText]


def split_sections(
    text: str,
    sections: Sequence[DocumentSection],
    split: SplitText,
    max_file_chars: int,
    language: str,
) -> ChunkedText:
    """Split each section, and the lines between sections, with `split`.

    Chunks get the title of their section as the outermost part of their scope. If the blocks of the
    language are known, their names are the symbols of the chunks.
    """
    lines = Lines(text)
    chunks = _split_each(lines, sections, split)
    blocks = read_blocks(lines, language)
    if blocks is not None:
        chunks = _add_names(chunks, blocks.symbols())
    return limit_chunks(chunks, text, max_file_chars, parsed=True)


def _add_names(chunks: Iterator[Chunk], names: Sequence[Name]) -> Iterator[Chunk]:
    """Yield the chunks with the names that are defined on their lines."""
    rows = [name.row for name in names]
    for chunk in chunks:
        first, end = bisect_left(rows, chunk.start_line - 1), bisect_left(rows, chunk.end_line)
        yield replace(chunk, symbols=tuple(dict.fromkeys(name.text for name in names[first:end])))


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
