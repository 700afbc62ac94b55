"""Read the types of a variable from the text of a file, even if the file is not parsed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.text.whole_names import find_word

# A capitalized word that is not a constant.
_CLASS: Final = r"(?P<type>[A-Z](?=\w*[a-z])\w*)\b"
_NAME: Final = re.compile(r"\w+")
_TYPE_FIRST: Final = frozenset("c cpp csharp dart java".split())
# The declarations of all variables in a text, with the groups "name" and "type". The text after the
# type is matched by a lookahead, because it can contain the type of another declaration.
_TYPE_FIRST_PATTERN: Final = re.compile(
    r"\b(?P<type>[A-Z]\w*)\b(?=(?:<[^;(){}]{0,80}>)?(?:\[\])?[&*?\s]+(?P<name>\w+)\s*[,);=:])"
)
_PHP_PATTERN: Final = re.compile(r"\b(?P<type>[A-Z]\w*)\b(?=\s+(?:&|\.\.\.)?\$(?P<name>\w+)\b)")
# The text that follows a variable where it is declared or where a value is assigned to it.
_TYPE_LAST_PATTERN: Final = re.compile(
    r"\s*[?!]?:\s*[&*\"']*(?:mut\s+|dyn\s+|impl\s+)?(?:\w+(?:\.|::))*"
    rf"{_CLASS}"
)
_GO_PATTERN: Final = re.compile(r"\s+\*?(?:\w+\.)?(?P<type>[A-Z]\w*)\b")
_VALUE: Final = (
    r"(?:\w+(?:\.|::|\\))*"
    rf"{_CLASS}(?:<[^;(){{}}\n]{{0,80}}>)?(?:::(?:new|default|from)\b)?\s*[({{]"
)
_ASSIGNED: Final = re.compile(rf"\s*:?=\s*(?:await\s+)?(?:new\s+|&)?{_VALUE}")
_ASSIGNED_WITH_NEW: Final = re.compile(rf"\s*:?=\s*(?:await\s+)?new\s+{_VALUE}")
# If a Go function declares a variable more often, the declarations in the whole file are used.
_MAX_IN_FUNCTION: Final = 100
# In these languages, a function can have a capitalized name, so a call without `new` need not
# create an instance.
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
    r"(?:\.new\b|(?:(?:::|\.)(?:new|create|build|default|of|from)\b)?\s*[({<])"
    r"|[ \t]+[*&]?(?:\w+\.)?(\w+)"
)
_NO_TYPES: Final = frozenset(
    """and as assert async auto await case const def default delete else export final for from if
    import in is lambda let lateinit move mut mutable new not or override private protected public
    readonly ref return static throw typeof until val var volatile when while yield""".split()
)


class VariableTypes:
    """The types of the variables in a text, according to their declarations and assignments.

    Names that may denote something other than a type, such as a function, are left out.
    """

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._known: dict[str, Sequence[tuple[int, str]]] = {}

    def find(self, variable: str) -> frozenset[str]:
        """Return the types of a variable anywhere in the text."""
        return frozenset(kind for _, kind in self._list_declarations(variable))

    def find_in_function(self, variable: str, end: int) -> frozenset[str]:
        """Return the types of a variable between the start of a Go function and an offset in it."""
        at = bisect_left(self._functions, end)
        start = self._functions[at - 1] if at else 0
        declared = self._list_declarations(variable)
        first, last = bisect_left(declared, (start, "")), bisect_left(declared, (end, ""))
        if last - first > _MAX_IN_FUNCTION:
            return self.find(variable)
        return frozenset(kind for _, kind in declared[first:last])

    @cached_property
    def _functions(self) -> Sequence[int]:
        """The offsets of the functions of a Go file."""
        return [match.start() for match in re.finditer(r"^func ", self._text, re.MULTILINE)]

    def _list_declarations(self, variable: str) -> Sequence[tuple[int, str]]:
        """Return the offset and the type of each declaration of a variable, in order."""
        if variable not in self._known:
            self._known[variable] = sorted(self._find_declarations(variable))
        return self._known[variable]

    def _find_declarations(self, variable: str) -> Iterator[tuple[int, str]]:
        if self._language in _TYPE_FIRST or self._language == "php":
            yield from self._typed_first.get(variable, ())
        if _NAME.fullmatch(variable) is None:
            return
        patterns = _patterns_after(self._language)
        # The variable is looked up first, because only a few variables of a file are requested.
        for offset in find_word(self._text, variable):
            for pattern in patterns:
                match = pattern.match(self._text, offset + len(variable))
                if match is not None:
                    yield offset, match["type"]

    @cached_property
    def _typed_first(self) -> Mapping[str, Sequence[tuple[int, str]]]:
        """Maps variables to the offsets and types of the declarations that begin with a type."""
        pattern = _PHP_PATTERN if self._language == "php" else _TYPE_FIRST_PATTERN
        found: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for match in pattern.finditer(self._text):
            found[match["name"]].append((match.start(), match["type"]))
        return found


def _patterns_after(language: str) -> Sequence[re.Pattern[str]]:
    assigned = _ASSIGNED_WITH_NEW if language in _WITH_NEW else _ASSIGNED
    if language in _TYPE_FIRST or language == "php":
        return (assigned,)
    return (assigned, _GO_PATTERN if language == "go" else _TYPE_LAST_PATTERN)


def guess_types(variable: str, found: FileOccurrences, start: int, end: int) -> Sequence[str]:
    """Return the names of the types that a variable may have in a range of a file.

    A returned name need not be a type: it can be a function whose result is assigned to the
    variable. The list may contain duplicates.
    """
    if variable.startswith(("@", "$")):
        return ()  # the types of such variables are not guessed
    # The variable is looked up first, because patterns that begin with a type are slow.
    return list(_read_types(variable, found.text, found.find_between(variable, start, end)))


def _read_types(variable: str, text: str, offsets: Sequence[int]) -> Iterator[str]:
    for offset in offsets:
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
