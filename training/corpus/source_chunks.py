"""Files split into chunks as in the index, with the symbols and comments of each chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.code_splitter import split_code
from rootle.ingest.chunking.heading_splitter import split_prose
from rootle.syntax.grammars import GRAMMARS, load_grammar
from rootle.syntax.lines import Comment, LineRange, Lines
from rootle.syntax.symbol_outline import Outline, read_outline
from rootle.text.terms import path_words

MIN_CHARS: Final = 30
_LIMITS: Final = ChunkLimits()
_TEST: Final = re.compile(
    r"(?:^|[/_.-])(?:tests?|specs?|__tests__|testing)(?:[/_.-]|$)|(?:Tests?|TestCase|Spec)\.\w+$"
)


@dataclass(frozen=True, slots=True)
class SourceChunk:
    """A chunk of a file."""

    number: int  # within the project
    path: str
    language: str
    text: str
    symbols: tuple[str, ...]  # names that it defines
    scope: tuple[str, ...]  # "class A", "def b"; the headings of prose
    comments: tuple[tuple[str, ...], ...] = ()  # comments on adjacent lines form one tuple
    first_line: int = 1

    @property
    def is_test(self) -> bool:
        """Return whether the file is a test, by its path."""
        return _TEST.search(self.path) is not None

    def prepend_path(self, text: str) -> str:
        """Return a text preceded by the words of the path, as the index embeds it."""
        return f"{path_words(self.path)}\n{text}"


def split_file(path: str, language: str, text: str, first_number: int) -> list[SourceChunk]:
    """Return the numbered chunks of a file, or no chunks if it cannot be parsed."""
    lines = Lines(text)
    if language not in GRAMMARS:
        ranges = split_prose(lines, language, _LIMITS.max_chars)
        outline = None
    else:
        outline = read_outline(lines, load_grammar(language))
        if outline is None:
            return []
        ranges = split_code(lines, outline, _LIMITS.max_chars)
    chunks: list[SourceChunk] = []
    for one in ranges:
        first, end = lines.trim(one.first, one.end)
        body = "\n".join(lines.rows[first:end])
        if not MIN_CHARS <= len(body) <= 2 * _LIMITS.max_chars:
            continue
        trimmed = LineRange(first, end, one.path)
        symbols = _symbols(trimmed, outline) if outline else ()
        comments = tuple(_comment_blocks(trimmed, outline)) if outline else ()
        number = first_number + len(chunks)
        chunks.append(
            SourceChunk(number, path, language, body, symbols, one.path, comments, first + 1)
        )
    return chunks


def _symbols(lines: LineRange, outline: Outline) -> tuple[str, ...]:
    names = (name.text for name in outline.names if lines.first <= name.row < lines.end)
    return tuple(dict.fromkeys(names))


def _comment_blocks(lines: LineRange, outline: Outline) -> Iterator[tuple[str, ...]]:
    """Yield the comments of a range, joining those on adjacent lines."""
    block: list[Comment] = []
    for comment in outline.comments:
        if comment.first < lines.first or comment.end > lines.end:
            continue
        if block and comment.first != block[-1].end:
            yield tuple(line.text for line in block)
            block = []
        block.append(comment)
    if block:
        yield tuple(line.text for line in block)
