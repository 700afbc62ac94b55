"""Files cut as the index cuts them: the places that may answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.ingest.chunking.code_splitter import split_code
from rootle.ingest.chunking.grammars import GRAMMARS, load_grammar
from rootle.ingest.chunking.limits import ChunkLimits
from rootle.ingest.chunking.lines import Comment, LineRange, Lines
from rootle.ingest.chunking.outline import Outline, read_outline
from rootle.ingest.chunking.prose_splitter import split_prose
from rootle.text.terms import path_words

_LIMITS: Final = ChunkLimits()
_TEST: Final = re.compile(
    r"(?:^|[/_.-])(?:tests?|specs?|__tests__|testing)(?:[/_.-]|$)|(?:Tests?|TestCase|Spec)\.\w+$"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk; `comments` are its comments, those on neighbouring lines as one tuple."""

    number: int
    path: str
    language: str
    text: str
    symbols: tuple[str, ...]
    scope: tuple[str, ...]  # "class A", "def b"; headings for prose
    comments: tuple[tuple[str, ...], ...] = ()
    first_line: int = 1  # from 1

    @property
    def is_test(self) -> bool:
        return _TEST.search(self.path) is not None

    def answer(self, text: str) -> str:
        """A text of this place as the index embeds it, with the words of its path."""
        return f"{path_words(self.path)}\n{text}"


def cut_file(path: str, language: str, text: str, first_number: int) -> list[Place]:
    """The places of a file, numbered on; none where its grammar gives no outline."""
    lines = Lines(text)
    if language not in GRAMMARS:
        parts = split_prose(lines, language, _LIMITS.max_chars)
        outline = None
    else:
        outline = read_outline(lines, load_grammar(language))
        if outline is None:
            return []
        parts = split_code(lines, outline, _LIMITS.max_chars)
    places = []
    for part in parts:
        first, end = lines.trim(part.first, part.end)
        body = "\n".join(lines.rows[first:end])
        if not 30 <= len(body) <= 2 * _LIMITS.max_chars:
            continue
        whole = LineRange(first, end, part.path)
        symbols = _symbols(whole, outline) if outline else ()
        comments = tuple(_comment_blocks(whole, outline)) if outline else ()
        number = first_number + len(places)
        places.append(Place(number, path, language, body, symbols, part.path, comments, first + 1))
    return places


def _symbols(part: LineRange, outline: Outline) -> tuple[str, ...]:
    names = (name.text for name in outline.names if part.first <= name.row < part.end)
    return tuple(dict.fromkeys(names))


def _comment_blocks(part: LineRange, outline: Outline) -> Iterator[tuple[str, ...]]:
    """Comments within a part; a grammar gives each `//` line alone, so runs are joined."""
    block: list[Comment] = []
    for comment in outline.comments:
        if comment.first < part.first or comment.end > part.end:
            continue
        if block and comment.first != block[-1].end:
            yield tuple(line.text for line in block)
            block = []
        block.append(comment)
    if block:
        yield tuple(line.text for line in block)
