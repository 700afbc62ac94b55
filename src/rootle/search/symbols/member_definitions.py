"""Fields, attributes, aliases and other definitions that are found only by reading files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rootle.search.symbols.definitions import (
    ALIAS_KINDS,
    MAX_LINE,
    TYPED,
    FoundDefinition,
    make_definition,
)
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.syntax.members import OBJECT_KEY, member_kind
from rootle.syntax.source_tree import Position
from rootle.syntax.symbol_outline import Unit

_SELF: Final = ("self.", "cls.")
_ASSIGNED: Final = re.compile(r"\s*=(?!=)")
_DECLARED: Final = re.compile(r"\s*(?:[:;,\[]|=(?!=)|\w)")


def rank_for_members(found: FileOccurrences) -> int | None:
    """Return 0 if a file is likely to define a name as a field or similar, 1 if less likely.

    A definition is likely if a line looks like "type name;". Return None if all occurrences look
    like uses of a field: they follow a dot or an arrow, as in "a.name" and "a->name", and no value
    is assigned to them.
    """
    best = None
    for offset in found.offsets:
        before = found.text[max(0, offset - MAX_LINE) : offset].rpartition("\n")[2]
        is_member = not before.endswith((".", "->")) or before.endswith(_SELF)
        end = offset + len(found.token)
        if is_member and _DECLARED.match(found.text, end) and _may_declare(before):
            return 0
        if is_member or _ASSIGNED.match(found.text, end):
            best = 1
    return best


def _may_declare(before: str) -> bool:
    """Return whether `before`, the text before a name in its line, can begin a declaration."""
    return not before.strip() or TYPED.search(before) is not None


def find_members(found: FileOccurrences) -> dict[Position, FoundDefinition]:
    """Return the definitions of a name as a field, an attribute or an alias, in a parsed file.

    If several methods of a class assign an attribute, only the first assignment is returned.
    """
    tree = found.tree
    if tree is None:
        return {}
    members: dict[tuple[object, ...], tuple[Position, FoundDefinition]] = {}
    for at in found.positions:
        kind = member_kind(tree, *at, found.size)
        # In Python, `from … import … as` is an alias only in the `__init__.py` of a package. In
        # other files, the new name is only for the file itself.
        is_private = tree.language == "python" and kind in ALIAS_KINDS
        if kind and not (is_private and not found.state.path.endswith("__init__.py")):
            units = tuple(tree.units_at(at[0]))
            one = make_definition(
                found, at, _classes(units) if kind == "attribute" else units, kind=kind
            )
            members.setdefault(one.owners if kind == "attribute" else at, (at, one))
    return dict(members.values())


def _classes(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the units up to the innermost class, to which an attribute in a method belongs."""
    last = max((at for at, unit in enumerate(units) if unit.is_box), default=-1)
    return tuple(units[: last + 1])


def drop_object_keys(
    members: Mapping[int, Mapping[Position, FoundDefinition]],
) -> Mapping[int, Mapping[Position, FoundDefinition]]:
    """Return the members. If one is a field, leave out object keys, which usually set fields."""
    kinds = {one.symbol.kind for some in members.values() for one in some.values()}
    if "field" not in kinds:
        return members
    return {
        file: {at: one for at, one in some.items() if one.symbol.kind != OBJECT_KEY}
        for file, some in members.items()
    }
