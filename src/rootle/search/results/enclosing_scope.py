"""What of a file belongs to some of its lines: the whole function, its head, what it imports."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from rootle.index.reader import ChunkRow
from rootle.text.terms import WORD

_MAX_HEAD: Final = 16
_MAX_SIGNATURE: Final = 8
_MAX_IMPORTS: Final = 8
# Imports stand at the beginning; so many lines of it are looked through.
_TOP_LINES: Final = 300

_ABOVE: Final = re.compile(r"\s*(?://|/?\*|#(?!include)|@|--|\[|<!--|;;|%)")
_DOC: Final = re.compile(r"""\s*[rRbBuU]?("{3}|'{3})""")
_IMPORT: Final = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|(?:pub\s+)?use\s|using\s|@import\b"
    r"|require(?:_once|_relative)?\b|(?:const|let|var)\b.*\brequire\(|open\s+[A-Z]|alias\s+[A-Z])"
)
_IMPORT_WORDS: Final = frozenset(
    "import from include use using require require_once require_relative as const let var type "
    "pub crate self super static qualified open alias".split()
)

Range = tuple[int, int]  # first and last line, from 1, both inclusive


def enclosing_unit(chunks: Sequence[ChunkRow], line: int) -> Range | None:
    """The function, class or section around a line: its neighbours that have one scope with it."""
    at = next((i for i, c in enumerate(chunks) if c.start_line <= line <= c.end_line), None)
    if at is None or not chunks[at].scope:
        return None
    first = last = at
    while first > 0 and chunks[first - 1].scope == chunks[at].scope:
        first -= 1
    while last + 1 < len(chunks) and chunks[last + 1].scope == chunks[at].scope:
        last += 1
    return chunks[first].start_line, chunks[last].end_line


def head_of(lines: Sequence[str], unit: Range) -> Range:
    """The comment above a definition, its signature and its doc comment: its first lines."""
    first, end = unit[0], min(unit[1], len(lines), unit[0] + _MAX_HEAD - 1)
    at = first
    while at < end and (not lines[at - 1].strip() or _ABOVE.match(lines[at - 1])):
        at += 1
    at = _end_of_signature(lines, at, end)
    doc = _DOC.match(lines[at]) if at < end else None
    if doc is None:
        return first, at
    stop = at + 1
    rest = lines[at][doc.end() :]
    while doc[1] not in rest and stop < end:
        rest = lines[stop]
        stop += 1
    return first, stop


def _end_of_signature(lines: Sequence[str], at: int, end: int) -> int:
    """The line on which the brackets that a signature opens are closed again."""
    depth = 0
    for line in range(at, min(end, at + _MAX_SIGNATURE - 1) + 1):
        text = lines[line - 1]
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth <= 0:
            return line
    return at


def imports_in_reach(lines: Sequence[str], used: Collection[str], before: int) -> list[int]:
    """The lines above `before` that import a name that is used."""
    found: list[int] = []
    for start, last in _imports(lines, min(before - 1, _TOP_LINES)):
        here = [
            line
            for line in range(start, last + 1)
            if any(name in used for name in _names_in(lines[line - 1]))
        ]
        if here:
            found += [start, *(line for line in here if line != start)]
    return found[:_MAX_IMPORTS]


def _imports(lines: Sequence[str], end: int) -> Iterator[Range]:
    """The statements that import something."""
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


def _names_in(line: str) -> Iterator[str]:
    code = line.split("//", 1)[0]
    for word in WORD.findall(code):
        if word not in _IMPORT_WORDS:
            yield word
