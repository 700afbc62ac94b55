"""The types of a Go file, with their methods and the types that they embed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from rootle.syntax.go_signatures import Signature, SignatureReader
from rootle.syntax.source_tree import SourceTree

_EMBEDDED: Final = ("type_identifier", "qualified_type", "generic_type", "pointer_type")


@dataclass(frozen=True, slots=True)
class EmbeddedType:
    """The name of an embedded type."""

    name: str
    qualifier: str = ""  # the name of the type's package; "" for the package of the file


@dataclass(frozen=True, slots=True)
class GoType:
    """A type that is declared at the top level of a file."""

    row: int  # of the name, from 0
    is_interface: bool = False
    is_constraint: bool = False  # an interface with a union of types; no value has such a type
    methods: Mapping[str, Signature] = field(default_factory=dict)  # of an interface
    embedded: tuple[EmbeddedType, ...] = ()


@dataclass(frozen=True, slots=True)
class GoFile:
    """The declarations of a Go file that determine which interfaces its types implement."""

    package: str
    imports: Mapping[str, str]  # name of a package in this file -> its import path
    types: Mapping[str, GoType]
    methods: Mapping[str, Mapping[str, Signature]]  # type of the receiver -> name -> signature


def read_go_file(tree: SourceTree) -> GoFile:
    """Return the types and the methods at the top level of a file."""
    package = ""
    imports: dict[str, str] = {}
    types: dict[str, GoType] = {}
    methods: dict[str, dict[str, Signature]] = {}
    for node in tree.root.named_children:
        match node.type:
            case "package_clause":
                package = tree.text(node).split()[-1]
            case "import_declaration":
                imports |= _imports_in(tree, node)
            case "type_declaration":
                for spec in node.named_children:
                    name, kind = spec.child_by_field_name("name"), spec.child_by_field_name("type")
                    if spec.type == "type_spec" and name is not None and kind is not None:
                        reader = SignatureReader(tree, imports, _type_parameters(tree, spec))
                        types[tree.text(name)] = _read_type(reader, name.start_point[0], kind)
            case "method_declaration":
                name, (owner, variables) = node.child_by_field_name("name"), _receiver(tree, node)
                if name is not None and owner:
                    signature = SignatureReader(tree, imports, variables).read(node)
                    methods.setdefault(owner, {})[tree.text(name)] = signature
    return GoFile(package, imports, types, methods)


def read_imports(tree: SourceTree) -> dict[str, str]:
    """Map the name of each package in a file to its import path."""
    found: dict[str, str] = {}
    for node in tree.root.named_children:
        if node.type == "import_declaration":
            found |= _imports_in(tree, node)
    return found


def embedded_types(tree: SourceTree, declaration: Node) -> list[EmbeddedType]:
    """Return the names of the types that are embedded in the types of a declaration."""
    specs = [one for one in (declaration, *declaration.named_children) if one.type == "type_spec"]
    return [
        one
        for spec in specs
        if (kind := spec.child_by_field_name("type")) is not None
        for one in _read_type(SignatureReader(tree, {}), 0, kind).embedded
    ]


def _imports_in(tree: SourceTree, declaration: Node) -> dict[str, str]:
    found = {}
    specs = [
        spec
        for child in declaration.named_children
        for spec in ([child] if child.type == "import_spec" else child.named_children)
    ]
    for spec in specs:
        path, name = spec.child_by_field_name("path"), spec.child_by_field_name("name")
        if path is not None:
            text = tree.text(path)[1:-1]
            found[tree.text(name) if name is not None else package_name(text)] = text
    return found


def package_name(path: str) -> str:
    """Return the usual name of a package: "yaml" for "gopkg.in/yaml.v3" and "x.org/yaml/v3"."""
    *_, before, last = ["", *path.split("/")]
    is_version = last[:1] == "v" and last[1:].isdigit()
    return (before if is_version and before else last).partition(".")[0]


def _type_parameters(tree: SourceTree, spec: Node) -> frozenset[str]:
    """Return the names of the type parameters of a declaration: {"K", "V"} for `M[K, V any]`."""
    parameters = spec.child_by_field_name("type_parameters")
    declarations = parameters.named_children if parameters is not None else []
    names = (name for one in declarations for name in one.children_by_field_name("name"))
    return frozenset(map(tree.text, names))


def _read_type(reader: SignatureReader, row: int, kind: Node) -> GoType:
    if kind.type == "interface_type":
        return _read_interface(reader, row, kind)
    if kind.type != "struct_type":
        return GoType(row)
    fields = (one for part in kind.named_children for one in part.named_children)
    types = (
        one.child_by_field_name("type")
        for one in fields
        if one.type == "field_declaration" and one.child_by_field_name("name") is None
    )
    embedded = (_read_embedded(reader.tree, one) for one in types if one is not None)
    return GoType(row, embedded=tuple(one for one in embedded if one is not None))


def _read_interface(reader: SignatureReader, row: int, node: Node) -> GoType:
    tree = reader.tree
    methods: dict[str, Signature] = {}
    embedded = []
    is_constraint = False
    for part in node.named_children:
        name = part.child_by_field_name("name")
        if part.type == "method_elem" and name is not None:
            methods[tree.text(name)] = reader.read(part)
        elif part.type == "type_elem":
            one = (
                _read_embedded(tree, part.named_children[0])
                if part.named_child_count == 1
                else None
            )
            is_constraint = is_constraint or one is None
            embedded += [one] if one is not None else []
    return GoType(
        row,
        is_interface=True,
        is_constraint=is_constraint,
        methods=methods,
        embedded=tuple(embedded),
    )


def _read_embedded(tree: SourceTree, node: Node) -> EmbeddedType | None:
    while node.type in ("pointer_type", "generic_type") and node.named_children:
        node = node.named_children[0]
    if node.type not in _EMBEDDED:
        return None
    qualifier, _, name = tree.text(node).rpartition(".")
    return EmbeddedType(name, qualifier)


def _receiver(tree: SourceTree, method: Node) -> tuple[str, frozenset[str]]:
    """Return the type of a method's receiver and its type parameters: M, {K, V} for `m *M[K, V]`.

    The type is "" if the code contains none.
    """
    receiver = method.child_by_field_name("receiver")
    declared = receiver.named_children[0] if receiver and receiver.named_children else None
    kind = declared.child_by_field_name("type") if declared else None
    variables: frozenset[str] = frozenset()
    while kind is not None and kind.type in ("parenthesized_type", "pointer_type", "generic_type"):
        arguments = kind.child_by_field_name("type_arguments")
        if arguments is not None:
            variables = frozenset(map(tree.text, arguments.named_children))
        kind = next(iter(kind.named_children), None)
    return (tree.text(kind) if kind is not None else ""), variables
