"""The code around a range of lines: the enclosing definition and the imports in use."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from rootle.index.reader import ChunkRow
from rootle.text.definition_head import LineInterval
from rootle.text.terms import WORD

_MAX_IMPORT_LINES: Final = 8
# Only this many lines at the beginning of a file are searched for imports.
_MAX_TOP_LINES: Final = 300

_IMPORT: Final = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|(?:pub\s+)?use\s|using\s|@import\b"
    r"|require(?:_once|_relative)?\b|(?:const|let|var)\b.*\brequire\(|open\s+[A-Z]|alias\s+[A-Z])"
)
_IMPORT_KEYWORDS: Final = frozenset(
    "import from include use using require require_once require_relative as const let var type "
    "pub crate self super static qualified open alias".split()
)


def find_definition(chunks: Sequence[ChunkRow], line: int) -> LineInterval | None:
    """Return the lines of the function, class or section around a line.

    They are the lines of all adjacent chunks with the same scope.
    """
    at = next((i for i, c in enumerate(chunks) if c.start_line <= line <= c.end_line), None)
    if at is None or not chunks[at].scope:
        return None
    first = last = at
    while first > 0 and chunks[first - 1].scope == chunks[at].scope:
        first -= 1
    while last + 1 < len(chunks) and chunks[last + 1].scope == chunks[at].scope:
        last += 1
    return chunks[first].start_line, chunks[last].end_line


def find_imports(lines: Sequence[str], used: Collection[str], before: int) -> list[int]:
    """Return lines above `before` that import a used name, and the starts of their statements."""
    found: list[int] = []
    for start, last in _import_statements(lines, min(before - 1, _MAX_TOP_LINES)):
        here = [
            line
            for line in range(start, last + 1)
            if any(name in used for name in _imported_names(lines[line - 1]))
        ]
        if here:
            found += [start, *(line for line in here if line != start)]
    return found[:_MAX_IMPORT_LINES]


def _import_statements(lines: Sequence[str], end: int) -> Iterator[LineInterval]:
    at = 1
    while at <= min(end, len(lines)):
        if not _IMPORT.match(lines[at - 1]):
            at += 1
            continue
        start, depth = at, 0
        while at <= min(end, len(lines)):
            depth += sum(map(lines[at - 1].count, "({")) - sum(map(lines[at - 1].count, ")}"))
            at += 1
            if depth <= 0:
                break
        yield start, at - 1


def _imported_names(line: str) -> Iterator[str]:
    code = line.split("//", 1)[0]
    for word in WORD.findall(code):
        if word not in _IMPORT_KEYWORDS:
            yield word
