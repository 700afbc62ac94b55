"""The signatures of Go methods, with the types of their parameters and results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree

PREDECLARED: Final = frozenset(
    """any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32
    int64 rune string uint uint8 uint16 uint32 uint64 uintptr""".split()
)
# Predeclared names for the same type.
_SYNONYMS: Final = {"byte": "uint8", "rune": "int32"}
NAMED: Final = "named"
UNKNOWN: Final = "unknown"
_ANY: Final = "any"
_MAX_DEPTH: Final = 50  # levels of nested types; deeper ones are unknown
# Types whose parts are not compared, because methods with the same name rarely differ only in them.
_OPAQUE: Final = frozenset({"struct_type", "interface_type"})
# The fields of a type that contain other types, in the order of the parts of `GoTypeUse`.
_PARTS: Final = {
    "pointer_type": (),
    "slice_type": ("element",),
    "array_type": ("element",),
    "map_type": ("key", "value"),
    "channel_type": ("value",),
}


@dataclass(frozen=True, slots=True)
class GoTypeUse:
    """A type in a signature."""

    # "named", "unknown", or the type of the syntax node, such as "slice_type". Unknown types, such
    # as type parameters, can be the same as any type.
    kind: str
    name: str = ""
    package: str = ""  # the import path that qualifies the name; "" without a qualifier
    parts: tuple[GoTypeUse, ...] = ()  # the types inside, such as the element of a slice


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of the parameters and of the results of a method."""

    parameters: tuple[GoTypeUse, ...] = ()
    results: tuple[GoTypeUse, ...] = ()


@dataclass(frozen=True, slots=True)
class SignatureReader:
    """Reads signatures in one file."""

    tree: SourceTree
    imports: Mapping[str, str]  # name of a package in this file -> its import path
    variables: Collection[str] = field(default=())  # names of type parameters

    def read(self, method: Node, depth: int = 0) -> Signature:
        """Return the signature of the declaration of a method, or of a function type.

        `depth` is the number of types around a function type.
        """
        parameters = method.child_by_field_name("parameters")
        results = method.child_by_field_name("result")
        return Signature(tuple(self._list(parameters, depth)), tuple(self._list(results, depth)))

    def _list(self, node: Node | None, depth: int) -> Iterator[GoTypeUse]:
        """Yield the type of each parameter or result: twice for "a, b int"."""
        if node is None:
            return
        if node.type != "parameter_list":
            yield self._type(node, depth)
            return
        for one in node.named_children:
            kind = one.child_by_field_name("type")
            if not one.type.endswith("_declaration") or kind is None:
                continue
            use = self._type(kind, depth)
            if one.type == "variadic_parameter_declaration":
                use = GoTypeUse("variadic", parts=(use,))
            yield from [use] * max(1, len(one.children_by_field_name("name")))

    def _type(self, node: Node, depth: int) -> GoTypeUse:
        """Return a type that is inside `depth` other types."""
        if depth > _MAX_DEPTH:
            return GoTypeUse(UNKNOWN)
        match node.type:
            case "type_identifier":
                return self._name(self.tree.text(node))
            case "qualified_type":
                qualifier, _, name = self.tree.text(node).partition(".")
                path = self.imports.get(qualifier)
                return GoTypeUse(NAMED, name, path) if path else GoTypeUse(UNKNOWN)
            case "generic_type":
                return self._generic(node, depth)
            case "parenthesized_type" | "type_elem" if node.named_child_count == 1:
                return self._type(node.named_children[0], depth + 1)
            case "function_type":
                one = self.read(node, depth + 1)
                parts = (GoTypeUse("parameters", parts=one.parameters), *one.results)
                return GoTypeUse(node.type, parts=parts)
            case "interface_type" if not node.named_child_count:
                return GoTypeUse(NAMED, _ANY)
            case kind if kind in _OPAQUE:
                return GoTypeUse(kind)
        return self._composite(node, depth)

    def _name(self, name: str) -> GoTypeUse:
        # A type without a qualifier can also belong to a package that is imported with a dot.
        is_exported = name[:1].isupper()
        if name in self.variables or ("." in self.imports and is_exported):
            return GoTypeUse(UNKNOWN)
        return GoTypeUse(NAMED, _SYNONYMS.get(name, name))

    def _generic(self, node: Node, depth: int) -> GoTypeUse:
        kind, arguments = (node.child_by_field_name(name) for name in ("type", "type_arguments"))
        if kind is None or arguments is None:
            return GoTypeUse(UNKNOWN)
        use = self._type(kind, depth + 1)
        parts = tuple(self._type(one, depth + 1) for one in arguments.named_children)
        return GoTypeUse(use.kind, use.name, use.package, parts)

    def _composite(self, node: Node, depth: int) -> GoTypeUse:
        names = _PARTS.get(node.type)
        if names is None:
            return GoTypeUse(UNKNOWN)
        inner = [node.child_by_field_name(name) for name in names] or node.named_children[:1]
        parts = tuple(self._type(one, depth + 1) for one in inner if one is not None)
        return GoTypeUse(node.type, parts=parts)
