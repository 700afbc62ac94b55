"""A text into chunks: definitions for code, sections for prose, windows for the rest."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.ingest.chunking.code_splitter import cut_code
from rootle.ingest.chunking.grammars import GRAMMARS, load_grammar
from rootle.ingest.chunking.limits import ChunkLimits
from rootle.ingest.chunking.lines import Comment, LineRange, Lines, Name
from rootle.ingest.chunking.outline import read_outline
from rootle.ingest.chunking.prose_splitter import cut_prose
from rootle.ingest.chunking.symbol_heuristics import find_names
from rootle.ingest.chunking.window_splitter import cut_windows
from rootle.text.languages import CODE_EXTENSIONS, PROSE

# The limits are part of what callers need, and live apart so that a door can name them cheaply.
__all__ = ["Chunk", "ChunkLimits", "ChunkedText", "cut_parts", "cut_text", "is_parseable"]

# Bigger sources are data in the form of code, and their trees take ten times their size in memory.
MAX_PARSED_CHARS: Final = 2_000_000
# Lines this long on average are minified: a tree of them tells nothing about lines.
MINIFIED_LINE: Final = 500
# Each "<" may begin type arguments, and Java's and C#'s parsers keep every reading in memory: 1,000
# take 150 MB, 4,000 take 2 GB, all between two calls of the callback that could stop them.
MAX_OPEN_ANGLES: Final = 1_000
SCOPE_SEPARATOR: Final = " > "

# Headers named .h are told to be C by their name; these lines are not C.
_CPP_SIGN: Final = re.compile(
    r"^[ \t]*(?:class\s+\w[^;]*\{|namespace\b|template\s*<|public:|using\s+\w)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole lines, or a fragment of an overlong one: text[start:end] of its file."""

    start_line: int  # from 1, inclusive
    end_line: int
    start: int  # characters, not bytes
    end: int
    symbols: tuple[str, ...]  # names defined in it, in order
    scope: str  # "class A > def b", "impl Foo > fn bar"; for prose its heading path
    comments: str  # text of the comments and docstrings in it, joined by newlines


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """The pieces of one text, in file order."""

    pieces: tuple[Chunk, ...]
    skipped_chars: int  # text beyond max_file_chars, left out
    parsed: bool  # False where windows stood in for a grammar that we have


def cut_text(text: str, language: str, limits: ChunkLimits) -> ChunkedText:
    """Cut a text of a language, as `languages.language_of` names it; any text has a cut."""
    pieces = _cut_by_grammar(text, language, limits) if language in GRAMMARS else None
    parsed = pieces is not None or language not in GRAMMARS
    if pieces is None:
        lines = Lines(_head(text, limits))
        if language in PROSE:
            parts = cut_prose(lines, language, limits.max_chars)
        else:
            parts = cut_windows(lines, limits.max_chars, limits.overlap_chars)
        names = list(find_names(lines, 0, len(lines))) if language in CODE_EXTENSIONS else []
        pieces = _pieces(lines, parts, limits.max_chars, names)
    return _within_budget(pieces, text, limits.max_file_chars, parsed)


def cut_parts(
    lines: Lines, parts: Sequence[LineRange], names: Sequence[Name], limits: ChunkLimits
) -> ChunkedText:
    """The cut of a text whose parts, and the names in them, somebody else found."""
    pieces = _pieces(lines, parts, limits.max_chars, names)
    return _within_budget(pieces, lines.text, limits.max_file_chars, parsed=True)


def _cut_by_grammar(text: str, language: str, limits: ChunkLimits) -> Iterator[Chunk] | None:
    if not is_parseable(text):
        return None
    if language == "c" and _CPP_SIGN.search(text):
        language = "cpp"
    lines = Lines(text)
    outline = read_outline(lines, load_grammar(language))
    if outline is None:
        return None
    parts = cut_code(lines, outline, limits.max_chars)
    return _pieces(lines, parts, limits.max_chars, outline.names, outline.comments)


def is_parseable(text: str) -> bool:
    """Whether a parser makes a tree of it in reasonable time and memory."""
    if len(text) > min(MAX_PARSED_CHARS, MINIFIED_LINE * (text.count("\n") + 10)):
        return False
    return text.count("<") - 2 * text.count("<<") - text.count(">") < MAX_OPEN_ANGLES


def _head(text: str, limits: ChunkLimits) -> str:
    """The lines that can come into the budget, so that a huge text costs no more than a big one."""
    last = limits.max_file_chars + 2 * limits.max_chars
    if limits.max_file_chars == 0 or len(text) <= last:
        return text
    newline = text.rfind("\n", last - limits.max_chars - 1, last)
    # Without one, the line there is cut into fragments anyway.
    return text[: newline if newline >= 0 else last]


def _within_budget(
    pieces: Iterator[Chunk], text: str, max_file_chars: int, parsed: bool
) -> ChunkedText:
    kept: list[Chunk] = []
    left = max_file_chars or len(text) * 2
    for piece in pieces:
        left -= piece.end - piece.start
        if left < 0:
            break
        kept.append(piece)
    covered = kept[-1].end if kept else 0
    return ChunkedText(tuple(kept), max(0, len(text.rstrip()) - covered), parsed)


def _pieces(
    lines: Lines,
    parts: Sequence[LineRange],
    max_chars: int,
    names: Sequence[Name] = (),
    comments: Sequence[Comment] = (),
) -> Iterator[Chunk]:
    name_rows = [name.row for name in names]
    comment_rows = [comment.first for comment in comments]
    for part in parts:
        first, end = lines.trim(part.first, part.end)
        if first == end:
            continue
        low, high = bisect_left(comment_rows, first), bisect_left(comment_rows, end)
        while low and comments[low - 1].end > first:
            low -= 1
        inside = names[bisect_left(name_rows, first) : bisect_left(name_rows, end)]
        piece = Chunk(
            start_line=first + 1,
            end_line=end,
            start=lines.starts[first],
            end=lines.starts[end] - 1,
            symbols=_symbols(inside),
            scope=SCOPE_SEPARATOR.join(part.path),
            comments="\n".join(_clip(said, lines, first, end) for said in comments[low:high]),
        )
        if piece.end - piece.start > max_chars:
            yield from _fragments(piece, lines.rows[first], inside, max_chars)
        else:
            yield piece


def _symbols(names: Sequence[Name]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.text for name in names))


def _clip(comment: Comment, lines: Lines, first: int, end: int) -> str:
    """The text of a comment, or its lines within a piece that holds only some of them."""
    if comment.first >= first and comment.end <= end:
        return comment.text
    return "\n".join(lines.rows[max(first, comment.first) : min(end, comment.end)])


def _fragments(whole: Chunk, line: str, names: Sequence[Name], max_chars: int) -> Iterator[Chunk]:
    """An overlong line in fragments, cut at spaces where the second half of one holds any."""
    origin, said = whole.start, whole.comments
    columns = [_characters(line, name.column) for name in names]
    start, last = len(line) - len(line.lstrip()), len(line.rstrip())
    while start < last:
        stop = min(start + max_chars, last)
        if stop < last:
            space = line.rfind(" ", start + max_chars // 2, stop)
            stop = space + 1 if space > 0 else stop
        inside = names[bisect_left(columns, start) : bisect_left(columns, stop)]
        place = (origin + start, origin + stop)
        if not line[start:stop].isspace():
            symbols = _symbols(inside)
            yield replace(whole, start=place[0], end=place[1], symbols=symbols, comments=said)
            said = ""
        start = stop


def _characters(line: str, column: int) -> int:
    """A column in bytes as one in characters."""
    if line.isascii():
        return column
    return len(line.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))
