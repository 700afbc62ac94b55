"""Translate a parsed regular expression to RE2, except for its atoms.

An atom is a part of the expression that matches one character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rootle.errors import QueryError
from rootle.search.query.regex_parsing import REPEATS

_UNLIMITED: Final = "MAXREPEAT"
# Patterns are matched within lines, so `\A` and `\Z` are treated as line starts and line ends.
_ANCHORS: Final = {
    "AT_BEGINNING": "(?m:^)",
    "AT_BEGINNING_STRING": "(?m:^)",
    "AT_END": "(?m:$)",
    "AT_END_STRING": "(?m:$)",
    "AT_BOUNDARY": r"\b",
    "AT_NON_BOUNDARY": r"\B",
}
_CATEGORIES: Final = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_LOOK_REMEDY: Final = (
    'match the text itself, or exclude lines with a word, as in regex:"def \\w+" -test'
)
# Constructs that RE2 cannot match in linear time: the description of each, and what to use instead.
_UNSUPPORTED: Final = {
    "GROUPREF": ("a backreference such as \\1", "repeat the part that the group contains"),
    "GROUPREF_EXISTS": ("a condition (?(1)…)", "search for each variant separately, or use |"),
    "ASSERT": ("a lookahead (?=…) or lookbehind (?<=…)", _LOOK_REMEDY),
    "ASSERT_NOT": ("a negative lookahead (?!…) or lookbehind (?<!…)", _LOOK_REMEDY),
    "FAILURE": ("a negative lookahead (?!…)", _LOOK_REMEDY),
    "ATOMIC_GROUP": ("an atomic group (?>…)", "use (?:…)"),
    "POSSESSIVE_REPEAT": ("a possessive repetition such as a++", "remove the second +"),
}


@dataclass(frozen=True, slots=True)
class RegexTranslation:
    """RE2 source with gaps for the atoms: the parts that match one character."""

    parts: tuple[str | int, ...]  # RE2 source, or the number of an atom
    atoms: tuple[tuple[str, int], ...]  # the source of each atom for `re`, and its flags

    @property
    def has_boundaries(self) -> bool:
        """Whether the pattern contains `\\b` or `\\B`, which depend on word characters."""
        return r"\b" in self.parts or r"\B" in self.parts

    def source(self, atom_source: Callable[[int], str]) -> str:
        """Return the RE2 source. `atom_source` returns the source of an atom."""
        return "".join(part if isinstance(part, str) else atom_source(part) for part in self.parts)


def translate_tree(pattern: str, tree: Any) -> RegexTranslation:
    """Return the translation of a parsed pattern. Raise QueryError if RE2 does not support it."""
    atoms: dict[tuple[str, int], int] = {}
    try:
        found = list(_translate(tree, tree.state.flags))
    except _UnsupportedError as error:
        construct, remedy = error.args
        raise QueryError(
            f'the regex "{pattern}" contains {construct}, which is not supported; {remedy}'
        ) from error
    except RecursionError as error:
        raise QueryError(
            f'the regex "{pattern}" nests too many groups; remove some parentheses'
        ) from error
    parts = [
        part if isinstance(part, str) else atoms.setdefault(part, len(atoms)) for part in found
    ]
    return RegexTranslation(tuple(parts), tuple(atoms))


class _UnsupportedError(Exception):
    """Raised for a construct that RE2 does not support, with its name and a remedy."""


_PatternPart = str | tuple[str, int]  # RE2 source, or an atom


def _translate(tree: Any, flags: int) -> Iterator[_PatternPart]:
    if flags & re.ASCII:
        raise _UnsupportedError("the flag (?a)", r"write the characters, such as [0-9] for \d")
    for operation, argument in tree:
        name = str(operation)
        if name == "AT":
            yield _ANCHORS[str(argument)]
        elif name == "SUBPATTERN":
            _, added, removed, part = argument
            yield from _group([part], flags & ~removed | added)
        elif name == "BRANCH":
            yield from _group(argument[1], flags)
        elif name in REPEATS:
            yield from _group([argument[2]], flags)
            yield _quantifier(argument[0], argument[1])
        elif name in _UNSUPPORTED:
            raise _UnsupportedError(*_UNSUPPORTED[name])
        else:
            yield _atom(name, argument), flags & re.IGNORECASE


def _group(branches: list[Any], flags: int) -> Iterator[_PatternPart]:
    for number, branch in enumerate(branches):
        yield "|" if number else "(?:"
        yield from _translate(branch, flags)
    yield ")"


def _quantifier(low: int, high: Any) -> str:
    if str(high) != _UNLIMITED:
        return f"{{{low},{high}}}"
    return "*" if low == 0 else f"{{{low},}}"


def _atom(name: str, argument: Any) -> str:
    """Return the source, in the syntax of `re`, of an operation that matches one character."""
    if name == "ANY":
        return "."
    if name == "IN":
        return f"[{''.join(map(_class_item, argument))}]"
    return f"[{'^' if name == 'NOT_LITERAL' else ''}{_char(argument)}]"


def _class_item(item: tuple[Any, Any]) -> str:
    name, argument = str(item[0]), item[1]
    if name == "NEGATE":
        return "^"
    if name == "RANGE":
        return f"{_char(argument[0])}-{_char(argument[1])}"
    return _CATEGORIES[str(argument)] if name == "CATEGORY" else _char(argument)


def _char(code: int) -> str:
    return f"\\U{code:08x}"
