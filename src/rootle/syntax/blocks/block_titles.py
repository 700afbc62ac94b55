"""The titles of blocks: their names, and the scopes that they form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rootle.syntax.blocks.block import Block

SCOPE_SEPARATOR: Final = " > "
IDENTIFIER: Final = re.compile(r"[\w$]+[?!]?")
NAME_SEPARATOR: Final = re.compile(r"::|->|[.#\\:/]")  # between the parts of a qualified name
# The companion object of a class of Kotlin, whose members belong to the class.
_COMPANION: Final = "companion"
# In JavaScript, `exports.name = …` makes a name of the module known to other files.
_EXPORTS: Final = re.compile(r"\A(?:module\.)?exports\.")
_GENERICS: Final = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")


def format_scope(units: Sequence[Block]) -> str:
    """Return the titles of units, outermost first."""
    return SCOPE_SEPARATOR.join(unit.title for unit in units if unit.title)


def owner_names(units: Sequence[Block]) -> tuple[str, ...]:
    """Return the names in the titles of units, innermost first.

    They are c, B and A for "class A > func B.c".
    """
    names: list[str] = []
    for unit in units:
        names += _names_in(unit)
    return tuple(reversed(names))


def unit_qualifiers(unit: Block) -> tuple[str, ...]:
    """Return the names before the last one in a title: A for "func A.b"."""
    return tuple(_names_in(unit)[:-1])


def _names_in(unit: Block) -> list[str]:
    if unit.is_box and unit.title == _COMPANION:
        return []
    label, _, rest = unit.title.partition(" ")
    text = rest or _EXPORTS.sub("", label)
    while (plain := _GENERICS.sub("", text)) != text:
        text = plain
    found = [IDENTIFIER.search(part) for part in NAME_SEPARATOR.split(text)]
    return [match.group() for match in found if match is not None]
