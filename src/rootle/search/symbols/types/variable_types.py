"""Read the types of a variable from the text of a file, even if the file is not parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_TYPE_FIRST: Final = frozenset("c cpp csharp dart java".split())
_TYPE_FIRST_PATTERN: Final = (
    r"\b([A-Z]\w*)(?:<[^;(){{}}]{{0,80}}>)?(?:\[\])?[&*?\s]+{name}\s*[,);=:]"
)
_TYPE_LAST_PATTERN: Final = (
    r"\b{name}\s*[?!]?:\s*[&*\"']*(?:mut\s+|dyn\s+|impl\s+)?(?:\w+(?:\.|::))*([A-Z]\w*[a-z]\w*)"
)
_GO_PATTERN: Final = r"\b{name}\s+\*?(?:\w+\.)?([A-Z]\w*)\b"
_PHP_PATTERN: Final = r"\b([A-Z]\w*)\s+(?:&|\.\.\.)?\${name}\b"
_ASSIGNED: Final = (
    r"\b{name}\s*:?=\s*(?:await\s+)?{new}(?:\w+(?:\.|::|\\))*([A-Z]\w*[a-z]\w*)"
    r"(?:<[^;(){{}}\n]{{0,80}}>)?(?:::(?:new|default|from)\b)?\s*[({{]"
)
# In these languages, a call without `new` may call a function, whose name can be capitalized.
_WITH_NEW: Final = frozenset("cpp csharp java php".split())
_MAX_ARGUMENTS: Final = 200  # characters of the arguments in `Type(arguments) as name`
# The type before a variable, as in `Type name = value`, and the text after such a variable.
_TYPE_BEFORE: Final = re.compile(r"\b(\w+)(?:<[^<>\n]*>)?[ \t&*?]+$")
_DECLARED: Final = re.compile(r"\s*[,);=]")
_CALL_BEFORE: Final = re.compile(r"\b(\w+)\([^()\n]*\)\s+as\s+$")
_NO_TYPES: Final = frozenset(
    """and as assert async auto await case const def default delete else export final for from if
    import in is lambda let lateinit move mut mutable new not or override private protected public
    readonly ref return static throw typeof until val var volatile when while yield""".split()
)


def read_variable_types(
    variable: str, text: str, language: str, *, may_guess: bool
) -> Sequence[str]:
    """Return the names of the types that a text declares for a variable or assigns to it.

    A name that is not certainly a type, such as that of a function whose result is assigned, is
    returned only if `may_guess` is set. Names can be repeated.
    """
    if may_guess:
        return _guess_types(variable, text)
    name = re.escape(variable)
    new = r"new\s+" if language in _WITH_NEW else r"(?:new\s+|&)?"
    patterns = [_ASSIGNED.format(name=name, new=new)]
    if language in _TYPE_FIRST:
        patterns.append(_TYPE_FIRST_PATTERN.format(name=name))
    elif language == "go":
        patterns.append(_GO_PATTERN.format(name=name))
    elif language == "php":
        patterns.append(_PHP_PATTERN.format(name=name))
    else:
        patterns.append(_TYPE_LAST_PATTERN.format(name=name))
    return [found for pattern in patterns for found in re.findall(pattern, text)]


def _guess_types(variable: str, text: str) -> list[str]:
    """Return the names of the types that a variable may have according to a text."""
    types = []
    after = _type_after(variable)
    # The variable is looked up first, because patterns that begin with a type are slow.
    for found in re.finditer(rf"\b{re.escape(variable)}\b", text):
        start = max(0, found.start() - _MAX_ARGUMENTS)
        match = None
        if _DECLARED.match(text, found.end()) is not None:
            match = _TYPE_BEFORE.search(text, start, found.start())
            if match is not None and match[1] in _NO_TYPES:
                match = None
        match = match or after.match(text, found.start())
        match = match or _CALL_BEFORE.search(text, start, found.start())
        if match is not None:
            types.append(next(filter(None, match.groups()), ""))
    return types


@lru_cache(maxsize=256)
def _type_after(variable: str) -> re.Pattern[str]:
    """Return a pattern for a variable before its type or before its value."""
    name = re.escape(variable)
    return re.compile(
        rf"{name}\s*:\s*[&*?\"']*(?:mut\s+|dyn\s+)?(?:Optional\[)?(?:\w+(?:\.|::))*(\w+)"
        rf"|{name}\s*:?=\s*(?:await\s+)?(?:new\s+|&)?(?:\w+(?:\.|::))*?(\w+)"
        rf"(?:(?:::|\.)(?:new|create|build|default|of|from)\b)?\s*[({{<]"
        rf"|{name}[ \t]+[*&]?(?:\w+\.)?(\w+)"
    )
