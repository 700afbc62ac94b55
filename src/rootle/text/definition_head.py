"""Find the head of a definition: the comment above it, its signature and its docstring."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

_MAX_HEAD_LINES: Final = 16
_MAX_SIGNATURE_LINES: Final = 8
_COMMENT_OR_DECORATOR: Final = re.compile(r"\s*(?://|/?\*|#(?!include)|@|--|\[|<!--|;;|%)")
_TYPE: Final = re.compile(r"\s*[A-Za-z_][\w \t*&:<>,]*")
_NAME_LINE: Final = re.compile(r"\s*[\w:~*&]+[ \t]*\(")
_DOCSTRING: Final = re.compile(r"""\s*[rRbBuU]?("{3}|'{3})""")

LineInterval = tuple[int, int]  # first and last line, from 1, both inclusive


def group_lines(numbers: Iterable[int]) -> list[LineInterval]:
    """Return the runs of consecutive lines."""
    runs = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    return [(run[0][1], run[-1][1]) for run in (list(members) for _, members in runs)]


def find_head(lines: Sequence[str], definition: LineInterval) -> LineInterval:
    """Return the lines of a definition's head: its comment, its signature and its docstring."""
    first = definition[0]
    last = min(definition[1], len(lines), first + _MAX_HEAD_LINES - 1)
    end = min(find_signature(lines, definition)[1], last)
    docstring = _DOCSTRING.match(lines[end]) if end < last else None
    if docstring is None:
        return first, end
    stop = end + 1
    rest = lines[end][docstring.end() :]
    while docstring[1] not in rest and stop < last:
        rest = lines[stop]
        stop += 1
    return first, stop


def find_signature(lines: Sequence[str], definition: LineInterval) -> LineInterval:
    """Return the lines from the name of a definition to the end of its parameters.

    The comment above the definition may have any length.
    """
    at, last = definition[0], min(definition[1], len(lines))
    is_in_comment = False
    while at < last:
        text = lines[at - 1].strip()
        if not is_in_comment and text and not _COMMENT_OR_DECORATOR.match(text):
            break
        is_in_comment = (is_in_comment or text.startswith("/*")) and "*/" not in text
        at += 1
    return at, _find_signature_end(lines, at, last)


def _is_return_type(lines: Sequence[str]) -> bool:
    """Return whether the first of two lines is the return type of a function in C.

    The name is then on the next line, with the same indentation.
    """
    return (
        len(lines) == 2
        and _TYPE.fullmatch(lines[0]) is not None
        and _NAME_LINE.match(lines[1]) is not None
        and _indentation(lines[0]) == _indentation(lines[1])
    )


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find_signature_end(lines: Sequence[str], at: int, end: int) -> int:
    """Return the line that closes all brackets of a signature."""
    depth = 0
    start = at + 1 if _is_return_type(lines[at - 1 : min(end, at + 1)]) else at
    for line in range(start, min(end, at + _MAX_SIGNATURE_LINES - 1) + 1):
        text = lines[line - 1]
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth <= 0:
            return line
    return at
