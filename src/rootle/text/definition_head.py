"""Find the head of a definition: the comment above it, its signature and its docstring.

Also find the end of a statement, and lines that follow the end of a definition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_MAX_HEAD_LINES: Final = 16
_MAX_SIGNATURE_LINES: Final = 8
_COMMENT_OR_DECORATOR: Final = re.compile(r"\s*(?://|/?\*|#(?!include)|@|--|\[|<!--|;;|%)")
# A line that contains just a type or modifiers. In C, the name of a function is often on the next
# line.
_TYPE_LINE: Final = re.compile(r"[\w\s*&<>:,]*[\w*&>]\s*")
_NAME_LINE: Final = re.compile(r"[\w\s*&<>:,~]*\w\s*\(")
_TEMPLATE_LINE: Final = re.compile(r"\s*template\s*<[^()]*>\s*$")
_MAX_TYPE_LINES: Final = 3
_MAX_STATEMENT_LINES: Final = 12
_OPENING: Final = re.compile(r"[(\[{]")
_CLOSING: Final = re.compile(r"[)\]}]")
_DOCSTRING: Final = re.compile(r"""\s*[rRbBuU]?("{3}|'{3})""")

# The closing line of an outermost definition.
_CLOSES_ALL: Final = re.compile(r"(?:[})\]]+|end)[;,]?\s*$")
_MAX_REST: Final = 60  # characters; longer text becomes a chunk of its own

LineInterval = tuple[int, int]  # first and last line, from 1, both inclusive


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


def find_comment_start(lines: Sequence[str], line: int) -> int:
    """Return the first of the comments and decorators directly above a line, or the line itself."""
    first = line
    while first > max(1, line - _MAX_HEAD_LINES) and _COMMENT_OR_DECORATOR.match(lines[first - 2]):
        first -= 1
    return first


def find_statement_end(
    lines: Sequence[str], first: int, max_lines: int = _MAX_STATEMENT_LINES
) -> int:
    """Return the line in which the brackets of a statement are closed, up to a limit."""
    depth = 0
    last = min(len(lines), first + max_lines - 1)
    for at in range(first, last + 1):
        line = lines[at - 1]
        depth += len(_OPENING.findall(line)) - len(_CLOSING.findall(line))
        if depth <= 0 and not line.rstrip().endswith(("=", "\\")):
            return at
    return last


def find_signature(lines: Sequence[str], definition: LineInterval) -> LineInterval:
    """Return the lines from the type or name of a definition to the end of its parameters.

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


def _find_signature_end(lines: Sequence[str], at: int, end: int) -> int:
    """Return the line that closes all brackets of a signature."""
    at = _find_name_line(lines, at, end)
    depth = 0
    for line in range(at, min(end, at + _MAX_SIGNATURE_LINES - 1) + 1):
        text = lines[line - 1]
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth <= 0:
            return line
    return at


def _find_name_line(lines: Sequence[str], at: int, end: int) -> int:
    """Return the line with the name and the opening bracket. Lines with a type may come before it.

    A line with more indentation than the first line belongs to the body.
    """
    if at < end and _TEMPLATE_LINE.match(lines[at - 1]):
        at += 1
    for line in range(at, min(end, at + _MAX_TYPE_LINES) + 1):
        text = lines[line - 1]
        if indentation(text) > indentation(lines[at - 1]):
            break
        if _NAME_LINE.match(text):
            return line
        if not _TYPE_LINE.fullmatch(text):
            break
    return at


def indentation(line: str) -> int:
    """Return the number of white-space characters at the start of a line."""
    return len(line) - len(line.lstrip())


def is_below_definition(lines: Sequence[str], first: int, end: int) -> bool:
    """Return whether the lines from `first` to `end` - 1 of a chunk are below its definition.

    Indexing adds a short last line of a file, such as `export { a as b }`, to the chunk above it.
    This chunk keeps the scope of its definition. The added line has no indentation and follows the
    line that closes the definition. The closing line may also be shown.
    """
    above = enumerate(lines[: first + 1])
    closing = next((at for at, line in above if _CLOSES_ALL.match(line)), None)
    if closing is None:
        return False
    rest = [line for line in lines[closing + 1 :] if line.strip()]
    is_short = sum(map(len, rest)) < _MAX_REST
    is_shown = any(line.strip() for line in lines[max(first, closing + 1) : end])
    return is_short and is_shown and not any(line[0].isspace() for line in rest)
