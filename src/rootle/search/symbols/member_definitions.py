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
from rootle.syntax.members import OBJECT_KEY, RUBY_METHODS, member_kind
from rootle.syntax.source_tree import Position
from rootle.syntax.symbol_outline import Unit

_SELF: Final = ("self.", "cls.")
_CONSTRUCTORS: Final = frozenset({"constructor", "__construct"})
_MODULE: Final = re.compile(r"(?<![\w:])(\w+(?:::\w+)*)::\Z")
_MODIFIER: Final = re.compile(r"\b(?:private|protected|public|readonly)\b")
_USING: Final = re.compile(r"\s*(?:global[ \t]+)?using\b")
_NAMESPACE: Final = re.compile(r"\s*namespace[ \t]+(?:\w+\.)*\Z")  # of C#
_ASSIGNED: Final = re.compile(r"\s*=(?!=)")
_DECLARED: Final = re.compile(r"\s*(?:[:;,\[\])]|=(?!=)|\w)")
# Signs that can precede a declared name on its line, as in `(*name)(int)` and `{ name :: Int`.
_SIGNS: Final = " \t,{(|&*"
# Names that are declared together with the next one, as in `int width, height;`.
_LISTED: Final = re.compile(r"\w[ \t]*,[ \t]*[*&]*\Z")
# The start of a line of Ruby whose symbols may name methods, as in `attr_reader :size, :color`.
_RUBY_CALL: Final = re.compile(rf"\s*(?:{'|'.join(sorted(RUBY_METHODS))})\b[^#]*:\Z")


def rank_for_members(found: FileOccurrences) -> int | None:
    """Return 0 if a file is likely to define a name as a field or similar, 1 if less likely.

    A definition is likely if a line looks like "type name;". Return None if all occurrences look
    like uses of a field: they follow a dot or an arrow, as in "a.name" and "a->name", and no value
    is assigned to them.
    """
    best = None
    for offset in found.offsets:
        before = _text_before(found, offset)
        if _is_declared(found, offset, before) or _is_namespace(found, offset, before):
            return 0
        is_member = not before.endswith((".", "->")) or before.endswith(_SELF)
        if is_member or _ASSIGNED.match(found.text, offset + len(found.token)):
            best = 1
    return best


def declared_places(found: FileOccurrences) -> list[Position]:
    """Return the positions at which the text of a file looks as if it declared the name."""
    return [
        at
        for at, offset in zip(found.positions, found.offsets, strict=True)
        if _is_declared(found, offset, _text_before(found, offset))
    ]


def _is_namespace(found: FileOccurrences, offset: int, before: str) -> bool:
    """Return whether a namespace of C# is declared at an offset.

    A namespace is a definition only if the name has no other, since many files declare it.
    """
    is_declared = found.state.language == "csharp" and _NAMESPACE.match(before) is not None
    return is_declared and not found.text.startswith(".", offset + len(found.token))


def _text_before(found: FileOccurrences, offset: int) -> str:
    return found.text[max(0, offset - MAX_LINE) : offset].rpartition("\n")[2]


def _is_declared(found: FileOccurrences, offset: int, before: str) -> bool:
    """Return whether a name may be declared at an offset; `before` precedes it on its line."""
    if before.endswith(_SELF):  # an attribute of Python
        return _ASSIGNED.match(found.text, offset + len(found.token)) is not None
    if before.endswith((".", "->")):
        return False
    match found.state.language:
        case "ruby" if _RUBY_CALL.match(before):
            return True
        case "ruby":  # a variable is local, unless it is a constant
            before = _MODULE.sub("", before)
            may_declare = bool(before.strip()) or found.name[:1].isupper()
        case "php":  # only a promoted parameter of a constructor
            before = before.removesuffix("$")
            may_declare = _MODIFIER.search(before) is not None
        case "java":  # only a parameter of a record
            may_declare = found.has_record
        case "csharp":
            may_declare = _USING.match(before) is not None or found.has_record
        case _:
            may_declare = True
    is_followed = _DECLARED.match(found.text, offset + len(found.token)) is not None
    return may_declare and is_followed and _may_declare(before)


def _may_declare(before: str) -> bool:
    """Return whether `before`, the text before a name in its line, can begin a declaration."""
    if not before.strip(_SIGNS) or TYPED.search(before) is not None:
        return True
    return "(" not in before and _LISTED.search(before) is not None


def find_members(
    found: FileOccurrences, places: Sequence[Position]
) -> dict[Position, FoundDefinition]:
    """Return the definitions of a name as a field, an attribute or an alias, in a parsed file.

    Only some places of the name are examined. If several methods of a class assign an attribute,
    only the first assignment is returned.
    """
    tree = found.tree
    if tree is None:
        return {}
    members: dict[tuple[object, ...], tuple[Position, FoundDefinition]] = {}
    for at in places:
        kind = member_kind(tree, *at, found.size)
        # In Python, `from … import … as` is an alias only in the `__init__.py` of a package. In
        # other files, the new name is only for the file itself.
        is_private = tree.language == "python" and kind in ALIAS_KINDS
        if kind and not (is_private and not found.state.path.endswith("__init__.py")):
            units = tuple(tree.units_at(at[0]))
            is_in_method = kind == "attribute" or _is_in_constructor(units)
            inner = _classes(units) if is_in_method else units
            if kind == "namespace" and units:
                inner = units[:-1]  # the last unit is this namespace
            one = make_definition(found, at, inner, _module_before(found, at), kind=kind)
            members.setdefault(one.owners if kind == "attribute" else at, (at, one))
    return dict(members.values())


def _module_before(found: FileOccurrences, at: Position) -> str:
    """Return the module before a constant of Ruby, such as "Shop::Api" in `Shop::Api::URL = 1`."""
    if found.state.language != "ruby":
        return ""
    qualifier = _MODULE.search(found.text_around(at, MAX_LINE)[0])
    return qualifier[1] if qualifier is not None else ""


def _is_in_constructor(units: Sequence[Unit]) -> bool:
    """Return whether the innermost unit is a constructor, whose parameters can declare fields."""
    return bool(units) and units[-1].symbol in _CONSTRUCTORS


def _classes(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the units up to the innermost class, to which a field in a method belongs."""
    last = max((at for at, unit in enumerate(units) if unit.is_box), default=-1)
    return tuple(units[: last + 1])


def drop_object_keys(
    members: Mapping[int, Mapping[Position, FoundDefinition]], *, is_defined: bool = False
) -> Mapping[int, Mapping[Position, FoundDefinition]]:
    """Return the members without object keys, which usually set fields, if one is a field.

    Set `is_defined` if the name has another definition, which the keys may set.
    """
    kinds = {one.symbol.kind for some in members.values() for one in some.values()}
    if "field" not in kinds and not is_defined:
        return members
    return {
        file: {at: one for at, one in some.items() if one.symbol.kind != OBJECT_KEY}
        for file, some in members.items()
    }
