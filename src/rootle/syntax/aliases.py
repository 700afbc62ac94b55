"""Find the original name of a definition that is imported or exported under a new name.

Examples are `export { Hono as HonoBase }`, `from .a import b as c` and `pub use a::B as C`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree

DEFAULT: Final = "default"  # the name of a default export
_PARTS: Final = re.compile(r"[\w$-]+(?:\.[\w$-]+)*")
_WORDS: Final = re.compile(r"\w+")
# An extension in the path of a JavaScript module.
_EXTENSION: Final = re.compile(r"\.[cm]?[jt]sx?$")
# Words in a path of Rust that name no module.
_RUST_ROOTS: Final = frozenset({"crate", "self", "super"})


@dataclass(frozen=True, slots=True)
class Alias:
    """The definition for which an alias is another name."""

    name: str  # "default" for the default export of a module
    module: tuple[str, ...] = ()  # parts of the path of its module; () if it is in the same file
    source: str = ""  # the path of a JavaScript module, such as "./hono-base"


def aliased_name(tree: SourceTree, row: int, column: int, size: int) -> Alias | None:
    """Return what the name at a position is an alias of, or None if it is not an alias.

    Rows and columns are counted from 0, columns and the size in bytes.
    """
    leaf = tree.node_at(row, column, size)
    parent = leaf.parent
    if parent is None or parent.child_by_field_name("alias") != leaf:
        return None
    match parent.type:
        case "export_specifier":
            return _read_export(tree, parent)
        case "aliased_import":
            return _read_python_import(tree, parent)
        case "use_as_clause":
            return _read_use(tree, parent)
    return None


def default_export(tree: SourceTree) -> str:
    """Return the name of the default export of a JavaScript module; "" if it has no name."""
    for node in tree.root.named_children:
        if node.type != "export_statement" or not any(one.type == DEFAULT for one in node.children):
            continue
        declared = node.child_by_field_name("declaration")
        named = declared.child_by_field_name("name") if declared is not None else None
        value = node.child_by_field_name("value")
        if named is None and value is not None and value.type == "identifier":
            named = value
        return tree.text(named) if named is not None else ""
    return ""


def _read_export(tree: SourceTree, specifier: Node) -> Alias | None:
    name = specifier.child_by_field_name("name")
    statement = specifier.parent.parent if specifier.parent is not None else None
    if name is None or statement is None:
        return None
    node = statement.child_by_field_name("source")
    source = tree.text(node).strip("\"'") if node is not None else ""
    parts = _PARTS.findall(_EXTENSION.sub("", source))
    return Alias(tree.text(name), tuple(parts), source)


def _read_python_import(tree: SourceTree, aliased: Node) -> Alias | None:
    name, statement = aliased.child_by_field_name("name"), aliased.parent
    module = statement.child_by_field_name("module_name") if statement is not None else None
    if name is None or module is None:
        return None
    return Alias(tree.text(name), tuple(_WORDS.findall(tree.text(module))))


def _read_use(tree: SourceTree, clause: Node) -> Alias | None:
    path = clause.child_by_field_name("path")
    words = _WORDS.findall(tree.text(path)) if path is not None else []
    node = clause.parent
    while node is not None and node.type in ("use_list", "scoped_use_list"):
        outer = node.child_by_field_name("path")
        words = [*(_WORDS.findall(tree.text(outer)) if outer is not None else []), *words]
        node = node.parent
    *module, name = words or [""]
    return Alias(name, tuple(one for one in module if one not in _RUST_ROOTS)) if name else None
