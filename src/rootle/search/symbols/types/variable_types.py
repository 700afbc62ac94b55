"""Read the types of a variable from the text of a file, even if the file is not parsed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from rootle.search.symbols.name_places import find_name

_TYPE_FIRST: Final = frozenset("c cpp csharp dart java".split())
# The declarations of all variables in a text, with the groups "name" and "type". The text after the
# first word is only looked at, because it can contain the first word of another declaration.
_TYPE_FIRST_PATTERN: Final = re.compile(
    r"\b(?P<type>[A-Z]\w*)\b(?=(?:<[^;(){}]{0,80}>)?(?:\[\])?[&*?\s]+(?P<name>\w+)\s*[,);=:])"
)
# A capitalized word that is not a constant.
_CLASS: Final = r"(?P<type>[A-Z](?=\w*[a-z])\w*)\b"
_TYPE_LAST_PATTERN: Final = re.compile(
    r"\b(?P<name>\w+)\b(?=\s*[?!]?:\s*[&*\"']*(?:mut\s+|dyn\s+|impl\s+)?(?:\w+(?:\.|::))*"
    rf"{_CLASS})"
)
_GO_PATTERN: Final = re.compile(
    r"\b(?P<name>\w+)\b(?=\s+\*?(?:\w+\.)?(?P<type>[A-Z]\w*)\b)",
)
_PHP_PATTERN: Final = re.compile(r"\b(?P<type>[A-Z]\w*)\b(?=\s+(?:&|\.\.\.)?\$(?P<name>\w+)\b)")
_VALUE: Final = (
    r"(?:\w+(?:\.|::|\\))*"
    rf"{_CLASS}(?:<[^;(){{}}\n]{{0,80}}>)?(?:::(?:new|default|from)\b)?\s*[({{]"
)
_ASSIGNED: Final = re.compile(rf"\b(?P<name>\w+)\b(?=\s*:?=\s*(?:await\s+)?(?:new\s+|&)?{_VALUE})")
_ASSIGNED_WITH_NEW: Final = re.compile(
    rf"\b(?P<name>\w+)\b(?=\s*:?=\s*(?:await\s+)?new\s+{_VALUE})"
)
# Declarations in a function of Go that are compared; of more, those of the whole file are used.
_MAX_IN_FUNCTION: Final = 100
# In these languages, a call without `new` may call a function, whose name can be capitalized.
_WITH_NEW: Final = frozenset("cpp csharp java php".split())
_MAX_ARGUMENTS: Final = 200  # characters of the arguments in `Type(arguments) as name`
# The type before a variable, as in `Type name = value`, and the text after such a variable.
_TYPE_BEFORE: Final = re.compile(r"\b(\w+)(?:<[^<>\n]*>)?[ \t&*?]+$")
_DECLARED: Final = re.compile(r"\s*[,);=]")
_CALL_BEFORE: Final = re.compile(r"\b(\w+)\([^()\n]*\)\s+as\s+$")
# The type or the value after a variable.
_TYPE_AFTER: Final = re.compile(
    r"\s*:\s*[&*?\"']*(?:mut\s+|dyn\s+)?(?:Optional\[)?(?:\w+(?:\.|::))*(\w+)"
    r"|\s*:?=\s*(?:await\s+)?(?:new\s+|&)?(?:\w+(?:\.|::))*?(\w+)"
    r"(?:(?:::|\.)(?:new|create|build|default|of|from)\b)?\s*[({<]"
    r"|[ \t]+[*&]?(?:\w+\.)?(\w+)"
)
_NO_TYPES: Final = frozenset(
    """and as assert async auto await case const def default delete else export final for from if
    import in is lambda let lateinit move mut mutable new not or override private protected public
    readonly ref return static throw typeof until val var volatile when while yield""".split()
)


class VariableTypes:
    """The types that a text declares for its variables or assigns to them.

    A name that is not certainly a type, such as that of a function, is left out. The text is
    searched once for the declarations of all variables.
    """

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._offsets: defaultdict[str, list[int]] = defaultdict(list)
        self._types: defaultdict[str, list[str]] = defaultdict(list)
        self._all: dict[str, frozenset[str]] = {}
        assigned = _ASSIGNED_WITH_NEW if language in _WITH_NEW else _ASSIGNED
        found = (
            (match.start(), match["name"], match["type"])
            for pattern in (assigned, _declaration_pattern(language))
            for match in pattern.finditer(text)
        )
        for offset, name, kind in sorted(found):
            self._offsets[name].append(offset)
            self._types[name].append(kind)
        self._functions = [match.start() for match in re.finditer(r"^func ", text, re.MULTILINE)]

    def find(self, variable: str) -> frozenset[str]:
        """Return the types of a variable anywhere in the text."""
        if variable not in self._all:
            self._all[variable] = frozenset(self._types.get(variable, ()))
        return self._all[variable]

    def find_in_function(self, variable: str, end: int) -> frozenset[str]:
        """Return the types of a variable between the start of a Go function and an offset in it."""
        at = bisect_left(self._functions, end)
        start = self._functions[at - 1] if at else 0
        offsets = self._offsets.get(variable, [])
        first, last = bisect_left(offsets, start), bisect_left(offsets, end)
        if last - first > _MAX_IN_FUNCTION:
            return self.find(variable)
        return frozenset(self._types[variable][first:last]) if last > first else frozenset()


def _declaration_pattern(language: str) -> re.Pattern[str]:
    if language in _TYPE_FIRST:
        return _TYPE_FIRST_PATTERN
    return {"go": _GO_PATTERN, "php": _PHP_PATTERN}.get(language, _TYPE_LAST_PATTERN)


def guess_types(variable: str, text: str) -> Sequence[str]:
    """Return the names of the types that a variable may have according to a text.

    A name need not be a type: it can be that of a function whose result is assigned. Names can be
    repeated.
    """
    return list(_guess_types(variable, text))


def _guess_types(variable: str, text: str) -> Iterator[str]:
    if variable.startswith(("@", "$")):
        return  # the types of such variables are not guessed
    # The variable is looked up first, because patterns that begin with a type are slow.
    for offset in find_name(text, variable, ""):
        start, end = max(0, offset - _MAX_ARGUMENTS), offset + len(variable)
        match = None
        if _DECLARED.match(text, end) is not None:
            match = _TYPE_BEFORE.search(text, start, offset)
            if match is not None and match[1] in _NO_TYPES:
                match = None
        match = match or _TYPE_AFTER.match(text, end)
        match = match or _CALL_BEFORE.search(text, start, offset)
        if match is not None:
            yield next(filter(None, match.groups()), "")
