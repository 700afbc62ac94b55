"""Definitions with the same name in one scope, and the one of them that a use refers to.

Examples are a function with several overloads, a class of Scala and its companion object, a class
and a namespace that TypeScript merges, and a structure and a function of C.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition

_TYPES: Final = frozenset(
    """class enum input interface message protocol record scalar struct trait type typedef
    union""".split()
)
_FUNCTIONS: Final = frozenset("declaration def fn fun func function method".split())


class Companions:
    """The definitions of one name, grouped by their scopes."""

    def __init__(self, definitions: Sequence[FoundDefinition]) -> None:
        groups: defaultdict[tuple[str, tuple[str, ...]], list[FoundDefinition]] = defaultdict(list)
        for one in _select_one_per_kind(definitions):
            groups[one.symbol.path, one.owners].append(one)
        self._by_place: Mapping[str, Sequence[FoundDefinition]] = {
            one.place: group for group in groups.values() for one in group
        }
        self.leaders = [min(group, key=_leader_order) for group in groups.values()]

    def select(self, definition: FoundDefinition, kind: str) -> FoundDefinition:
        """Return the companion of a definition that a use of a kind refers to.

        `kind` is that of `OccurrenceRole`. A type is used as a type or called to create a value.
        """
        group = self._by_place.get(definition.place, ())
        if len(group) < 2:
            return definition
        types = [one for one in group if is_type(one)]
        functions = [one for one in group if one.symbol.kind in _FUNCTIONS]
        others = [one for one in group if one not in types]
        match kind:
            case "call":
                fitting = functions or types
            case "reference":
                fitting = others
            case _:
                fitting = types
        return (fitting or [definition])[0]


def _leader_order(definition: FoundDefinition) -> tuple[bool, int]:
    """Return the sort key of a definition: types come first, so that imports refer to them."""
    return not is_type(definition), definition.symbol.line


def is_type(definition: FoundDefinition) -> bool:
    """Return whether a definition is a class or another type."""
    return definition.symbol.kind in _TYPES


def _select_one_per_kind(definitions: Iterable[FoundDefinition]) -> list[FoundDefinition]:
    """Return the first definition of each kind in each scope of each file.

    A file may define a function several times, for example for each condition or overload.
    Declarations are left out if the scope contains another definition.
    """
    chosen: dict[tuple[str, tuple[str, ...], str], FoundDefinition] = {}
    known = list(definitions)
    bodies = [one for one in known if one.symbol.kind != "declaration"]
    scopes = {(one.symbol.path, one.owners) for one in bodies}
    for one in known:
        symbol = one.symbol
        if symbol.kind != "declaration" or (symbol.path, one.owners) not in scopes:
            chosen.setdefault((symbol.path, one.owners, symbol.kind), one)
    return list(chosen.values())
