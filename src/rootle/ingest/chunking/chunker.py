"""Split a text into chunks: at definitions, headings or blocks, or into windows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.code_splitter import split_blocks, split_code
from rootle.ingest.chunking.heading_splitter import find_headings, split_prose
from rootle.ingest.chunking.window_splitter import split_windows
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.syntax.blocks.outline import read_blocks
from rootle.syntax.files.file_symbols import read_file_symbol
from rootle.syntax.grammars import GRAMMARS, load_grammar
from rootle.syntax.keyword_names import find_names
from rootle.syntax.lines import Comment, LineRange, Lines, Name
from rootle.syntax.parse_limits import grammar_name, is_parseable
from rootle.syntax.symbol_outline import read_outline
from rootle.text.languages import CODE_EXTENSIONS, PROSE
from rootle.text.terms import MAX_WORD_CHARS

# The blocks of these languages are named and shown, but windows are found more reliably: many keys
# of YAML have only a few short lines, and a stage of a Dockerfile is a long list of instructions.
_IN_WINDOWS: Final = frozenset({"dockerfile", "yaml"})
_WORD_START: Final = re.compile(r"\w")
_WORD_END: Final = re.compile(r"\w+\Z")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document, text[start:end]: whole lines, or a fragment of an overlong line."""

    start_line: int  # from 1, inclusive
    end_line: int
    start: int  # in characters, not bytes
    end: int
    symbols: tuple[str, ...]  # the names that it defines, in order
    scope: str  # "class A > def b", "impl Foo > fn bar"; for prose the path of headings
    comments: str  # the text of its comments and docstrings, joined by newlines


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """The chunks of a text, in order."""

    chunks: tuple[Chunk, ...]
    skipped_chars: int  # the number of characters beyond max_file_chars
    parsed: bool  # False if the language has a grammar but the text could not be parsed


def split_text(text: str, language: str, limits: ChunkLimits, path: str = "") -> ChunkedText:
    """Split a text; `language` is a name from `text.languages`.

    A definition without a name of its own has the name of the file at `path`.
    """
    chunks = _split_by_grammar(text, language, limits, path) if language in GRAMMARS else None
    parsed = chunks is not None or language not in GRAMMARS
    if chunks is None:
        lines = Lines(_truncate(text, limits))
        blocks = read_blocks(lines, language) if language not in GRAMMARS else None
        if language in PROSE:
            ranges = split_prose(lines, language, limits.max_chars, limits.part_overlap_chars)
        elif blocks is not None and blocks.root.members and language not in _IN_WINDOWS:
            ranges = split_blocks(lines, blocks.root, limits.max_chars, limits.part_overlap_chars)
        else:
            ranges = split_windows(lines, limits.max_chars, limits.overlap_chars)
        names: Sequence[Name] = ()
        if blocks is not None:
            names = blocks.symbols()
        elif language in CODE_EXTENSIONS:
            names = list(find_names(lines, 0, len(lines)))
        chunks = _make_chunks(lines, ranges, limits.max_chars, names)
    return limit_chunks(chunks, text, limits.max_file_chars, parsed=parsed)


def split_ranges(
    lines: Lines, ranges: Sequence[LineRange], names: Sequence[Name], limits: ChunkLimits
) -> ChunkedText:
    """Split a text into the given line ranges; `names` are the names that it defines."""
    chunks = _make_chunks(lines, ranges, limits.max_chars, names)
    return limit_chunks(chunks, lines.text, limits.max_file_chars, parsed=True)


def limit_chunks(
    chunks: Iterator[Chunk], text: str, max_file_chars: int, *, parsed: bool
) -> ChunkedText:
    """Keep the first chunks of a text, up to `max_file_chars` characters; 0 keeps all."""
    kept: list[Chunk] = []
    remaining = max_file_chars or len(text) * 2
    for chunk in chunks:
        remaining -= chunk.end - chunk.start
        if remaining < 0:
            break
        kept.append(chunk)
    covered = kept[-1].end if kept else 0
    return ChunkedText(tuple(kept), max(0, len(text.rstrip()) - covered), parsed)


def _split_by_grammar(
    text: str, language: str, limits: ChunkLimits, path: str
) -> Iterator[Chunk] | None:
    if not is_parseable(text):
        return None
    lines = Lines(text)
    outline = read_outline(lines, load_grammar(grammar_name(text, language)))
    if outline is None:
        return None
    if find_headings(lines, language):  # an HTML page
        ranges = split_prose(lines, language, limits.max_chars, limits.part_overlap_chars)
    else:
        ranges = split_code(lines, outline, limits.max_chars, limits.part_overlap_chars)
    symbol = read_file_symbol(path, language, text, outline)
    names = outline.names if symbol is None else sorted([symbol.entry, *outline.names])
    return _make_chunks(lines, ranges, limits.max_chars, names, outline.comments)


def _truncate(text: str, limits: ChunkLimits) -> str:
    """Return the lines of a huge text that may fit into the limit; the rest is not processed."""
    last = limits.max_file_chars + 2 * limits.max_chars
    if limits.max_file_chars == 0 or len(text) <= last:
        return text
    newline = text.rfind("\n", last - limits.max_chars - 1, last)
    # A longer line is split into fragments anyway.
    return text[: newline if newline >= 0 else last]


def _make_chunks(
    lines: Lines,
    ranges: Sequence[LineRange],
    max_chars: int,
    names: Sequence[Name] = (),
    comments: Sequence[Comment] = (),
) -> Iterator[Chunk]:
    name_rows = [name.row for name in names]
    comment_rows = [comment.first for comment in comments]
    for line_range in ranges:
        first, end = lines.trim(line_range.first, line_range.end)
        if first == end:
            continue
        low, high = bisect_left(comment_rows, first), bisect_left(comment_rows, end)
        while low and comments[low - 1].end > first:
            low -= 1
        inside = names[bisect_left(name_rows, first) : bisect_left(name_rows, end)]
        chunk = Chunk(
            start_line=first + 1,
            end_line=end,
            start=lines.starts[first],
            end=lines.starts[end] - 1,
            symbols=_unique_texts(inside),
            scope=SCOPE_SEPARATOR.join(line_range.path),
            comments="\n".join(_clip(comment, lines, first, end) for comment in comments[low:high]),
        )
        if chunk.end - chunk.start > max_chars:
            yield from _split_line(chunk, lines.rows[first], inside, max_chars)
        else:
            yield chunk


def _unique_texts(names: Sequence[Name]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.text for name in names))


def _clip(comment: Comment, lines: Lines, first: int, end: int) -> str:
    """Return the text of a comment, or its lines in a chunk that contains only part of it."""
    if comment.first >= first and comment.end <= end:
        return comment.text
    return "\n".join(lines.rows[max(first, comment.first) : min(end, comment.end)])


def _split_line(whole: Chunk, line: str, names: Sequence[Name], max_chars: int) -> Iterator[Chunk]:
    """Split an overlong line, if possible at a space in the second half of each fragment.

    Otherwise, a fragment ends between two words, so that both words can be found.
    """
    origin, comments = whole.start, whole.comments
    columns = [_character_column(line, name.column) for name in names]
    start, last = len(line) - len(line.lstrip()), len(line.rstrip())
    while start < last:
        stop = min(start + max_chars, last)
        if stop < last:
            half = start + max_chars // 2
            space = line.rfind(" ", half, stop)
            stop = space + 1 if space > 0 else _word_boundary(line, half, stop)
        inside = names[bisect_left(columns, start) : bisect_left(columns, stop)]
        if not line[start:stop].isspace():
            yield replace(
                whole,
                start=origin + start,
                end=origin + stop,
                symbols=_unique_texts(inside),
                comments=comments,
            )
            comments = ""
        start = stop


def _word_boundary(line: str, first: int, stop: int) -> int:
    """Return the start of the word around `stop`, or `stop` if no word starts after `first`."""
    first = max(first, stop - MAX_WORD_CHARS)
    word = _WORD_END.search(line, first, stop)
    is_inside = word is not None and _WORD_START.match(line, stop) is not None
    return word.start() if word is not None and is_inside and word.start() > first else stop


def _character_column(line: str, column: int) -> int:
    """Convert a column in bytes to a column in characters."""
    if line.isascii():
        return column
    return len(line.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))
