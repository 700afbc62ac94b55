"""Find the variables and constants that the shown lines use, in the file and its classes.

A function that is shown often depends on a table, a pattern or a limit that is defined elsewhere in
its file. Without these lines, an agent would need another call to read them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rootle.text.definition_head import find_comment_start, find_statement_end
from rootle.tools.excerpts.file_places import is_type
from rootle.types import Definition

# The name in a definition such as `static final int NAME = 3`, `NAME: Final = 3`, `NAME := 3` or
# `#define NAME 3`. Only words, types and brackets may precede it.
_DEFINED: Final = re.compile(
    r"\s{0,12}(?:#\s*define\s+(?P<macro>[A-Za-z_]\w*)\b(?!\()"
    r"|(?:(?:[\w$<>\[\],.*&?@:]+\s+){1,6}?[*&]*)??(?P<name>[A-Za-z_$][\w$]*)\s*(?:\[[^\]=]{0,40}\]\s*)*"
    r"(?::(?!=)[^=;]{1,80})?:?=(?![=>~]))"
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")
_MIN_NAME: Final = 3
# Values that say nothing about the code that uses them: loggers, modules, type variables, and empty
# values, which the code replaces.
_PLAIN: Final = re.compile(
    r"[Ll]og(?:ger|ging)?\b|\b(?:require|import|TypeVar|ParamSpec)\("
    r"|=\s*(?:0|NULL|null|nil|None|nullptr|[Ff]alse|[Tt]rue|undefined|\[\]|\{\}|\"\"|'')\s*(?:;\s*)?$"
)
_CONSTANT: Final = re.compile(r"_*[A-Z][A-Z0-9_]+")
# The first line of a group of variables or constants in Go.
_GROUP: Final = re.compile(r"(?:const|var)\s*\($")
# The number of files whose variables are kept. An answer shows places of at most five files, and
# needs the variables of each of them twice. The lines of these files stay in memory, so the number
# is small.
_MAX_FILES: Final = 8
# The maximum number of lines of a definition that `find_declarations` yields.
_MAX_STATEMENT_LINES: Final = 60


def find_used_variables(
    lines: Sequence[str], definitions: Sequence[Definition], shown: Collection[int]
) -> list[Definition]:
    """Return the variables that `shown` lines use, in the order of their first use.

    Only variables outside of functions are returned: those of the file and of its classes. The
    numbers of lines are counted from 1. A definition of more than 12 lines is cut after the
    twelfth.
    """
    used = dict.fromkeys(
        name for at in sorted(shown) for name in _IDENTIFIER.findall(lines[at - 1])
    )
    defined = {
        one.name: one.line
        for one in _list_variables(tuple(lines), tuple(definitions))
        if one.name in used
        and one.is_global
        and one.line not in shown
        and not _PLAIN.search(lines[one.line - 1])
    }
    return [
        Definition(name, defined[name], find_statement_end(lines, defined[name]))
        for name in used
        if name in defined
    ]


def find_declarations(
    lines: Sequence[str], definitions: Sequence[Definition]
) -> Iterator[Definition]:
    """Yield the variables and constants with a value in a file and its classes.

    Each one begins with the comment and the decorators above it, and its name includes the class.
    """
    # Maps each line to the innermost type around it, because inner definitions come after outer
    # ones.
    types = {
        at: one.name
        for one in definitions
        if is_type(one.name)
        for at in range(one.first_line + 1, one.last_line + 1)
    }
    for one in _list_variables(tuple(lines), tuple(definitions)):
        around = types.get(one.line)
        if one.is_global or around is not None:
            name = one.name if around is None else f"{around} > {one.name}"
            first = find_comment_start(lines, one.line)
            yield Definition(name, first, find_statement_end(lines, one.line, _MAX_STATEMENT_LINES))


def is_constant(name: str) -> bool:
    """Return whether a name is written as constants are, as in MAX_SIZE."""
    return _CONSTANT.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    line: int
    is_global: bool  # an indented name may be local to a function that the outline lacks


@lru_cache(_MAX_FILES)
def _list_variables(
    lines: tuple[str, ...], definitions: tuple[Definition, ...]
) -> Sequence[_Variable]:
    """Return the variables that are defined outside functions."""
    inside = {
        at
        for one in definitions
        if not is_type(one.name)
        for at in range(one.first_line, one.last_line + 1)
    }
    in_group = False
    found: list[_Variable] = []
    for at, line in enumerate(lines, start=1):
        is_indented = line[:1].isspace()
        if line and not is_indented:
            in_group = _GROUP.match(line) is not None
        if at in inside or ("=" not in line and "define" not in line):
            continue
        match = _DEFINED.match(line)
        name = "" if match is None else match["macro"] or match["name"]
        if len(name) >= _MIN_NAME:
            found.append(_Variable(name, at, not is_indented or in_group or is_constant(name)))
    return found
