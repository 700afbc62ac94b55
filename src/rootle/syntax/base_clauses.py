"""Recognize the names of base classes, interfaces, traits and mixins of a definition."""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree

# Nodes for the clauses of a definition that list its bases: base classes, interfaces and traits.
_BASES: Final = frozenset(
    """superclass super_interfaces extends_interfaces base_class_clause base_list base_clause
    class_interface_clause class_heritage extends_clause implements_clause extends_type_clause
    delegation_specifier delegation_specifiers inheritance_specifier derives_clause""".split()
)
# Parts of these clauses that do not name a base.
_NOT_BASES: Final = frozenset(
    """arguments argument_list value_arguments type_arguments type_parameters
    type_argument_list template_argument_list class_body block template_body
    with_template_body""".split()
)
# For each language, maps the types of other nodes that contain a base to the field that contains
# it; "" means that any part of the node can be the base.
_FIELDS: Final[dict[str, dict[str, str]]] = {
    "haskell": {
        "class": "context",
        "deriving": "classes",
        "deriving_instance": "name",
        "instance": "name",
    },
    "java": {"object_creation_expression": "type"},
    "php": {"use_declaration": ""},
    "python": {"class_definition": "superclasses"},
    "rust": {"impl_item": "trait", "trait_item": "bounds"},
    "scala": {"given_definition": "return_type", "instance_expression": ""},
}
# For each language, maps the types of nodes inside a base to the field with the name of the base;
# "" means that the node contains no such name.
_HEADS: Final[dict[str, dict[str, str]]] = {
    "haskell": {"apply": "constructor"},
    "python": {"keyword_argument": "", "subscript": "value"},
}
# These nodes contain a base only if they have a class body.
_WITH_BODY: Final = frozenset({"object_creation_expression", "instance_expression"})
_CLASS_BODIES: Final = frozenset({"class_body", "template_body"})
_RUBY_MIXINS: Final = frozenset({"include", "extend", "prepend"})
# Methods that create a table with the members of another table.
_LUA_METHODS: Final = frozenset({"extend", "new", "subclass"})
_LUA_STATEMENTS: Final = frozenset({"assignment_statement", "variable_declaration"})
_ELIXIR_BASES: Final = frozenset({"behaviour", "defimpl", "derive", "use"})
# The text after a name that qualifies another name, such as `a` in `a.B`.
_QUALIFIES: Final = re.compile(rb"\s*(?:\.|::|\\)\s*\w")
_MAX_CLIMB: Final = 12
_MAX_SPACE: Final = 80


def is_base(tree: SourceTree, leaf: Node, end: int) -> bool:
    """Return whether the name that ends at byte `end` names a base of a definition."""
    if _QUALIFIES.match(tree.data[end : end + _MAX_SPACE]):
        return False
    match tree.language:
        case "elixir":
            return _is_elixir_base(tree, leaf)
        case "ruby":
            return _is_ruby_base(tree, leaf)
        case "go":
            return _is_embedded(leaf)
        case "lua":
            return _is_lua_base(tree, leaf)
        case "rust" if leaf.parent is not None and leaf.parent.type == "token_tree":
            return _is_derived(tree, leaf.parent)
    return _is_in_clause(tree, leaf)


def _is_in_clause(tree: SourceTree, leaf: Node) -> bool:
    node = leaf
    fields, heads = _FIELDS.get(tree.language, {}), _HEADS.get(tree.language, {})
    for _ in range(_MAX_CLIMB):
        parent = node.parent
        if parent is None:
            return False
        if parent.type in _BASES:
            return True
        if (field := fields.get(parent.type)) is not None:
            is_part = not field or parent.child_by_field_name(field) == node
            return is_part and (parent.type not in _WITH_BODY or _has_body(parent))
        if (head := heads.get(parent.type)) is not None and (
            not head or parent.child_by_field_name(head) != node
        ):
            return False
        if parent.type in _NOT_BASES and tree.language != "python":
            return False
        node = parent
    return False


def _has_body(node: Node) -> bool:
    return any(child.type in _CLASS_BODIES for child in node.children)


def _is_elixir_base(tree: SourceTree, leaf: Node) -> bool:
    """Return whether a name is an argument of `@behaviour`, `defimpl`, `use` or a similar macro."""
    node = leaf
    while (parent := node.parent) is not None and parent.type in ("arguments", "list", "tuple"):
        node = parent
    if parent is None or parent.type != "call" or node.type != "arguments":
        return False
    target = parent.child_by_field_name("target")
    return target is not None and tree.text(target) in _ELIXIR_BASES


def used_modules(tree: SourceTree, module: Node) -> list[str]:
    """Return the last parts of the names of the modules that an Elixir module uses.

    These are the arguments of `use` and `@behaviour` in its body.
    """
    body = next((one for one in module.children if one.type == "do_block"), None)
    statements = body.named_children if body is not None else []
    operands = (one.child_by_field_name("operand") or one for one in statements)
    calls = [one for one in operands if one.type == "call"]
    names = []
    for call in calls:
        target = call.child_by_field_name("target")
        if target is not None and tree.text(target) in _ELIXIR_BASES:
            arguments = (one for one in call.named_children if one.type == "arguments")
            aliases = (one for some in arguments for one in some.named_children[:1])
            names += [tree.text(one).rpartition(".")[2] for one in aliases if one.type == "alias"]
    return names


def _is_ruby_base(tree: SourceTree, leaf: Node) -> bool:
    node = leaf
    for _ in range(_MAX_CLIMB):
        parent = node.parent
        if parent is None:
            return False
        if parent.type == "superclass":
            return True
        if parent.type == "call":
            method = parent.child_by_field_name("method")
            if method is None or method == leaf:
                return False
            if tree.text(method) == "new":
                receiver = parent.child_by_field_name("receiver")
                return receiver is not None and tree.text(receiver) == "Class"
            # As an argument, as in `expect(list).to include(item)`, `include` belongs to RSpec.
            is_argument = parent.parent is not None and parent.parent.type == "argument_list"
            return tree.text(method) in _RUBY_MIXINS and not is_argument
        node = parent
    return False


def _is_lua_base(tree: SourceTree, leaf: Node) -> bool:
    """Return whether a name denotes a table on which a method such as `extend` is called.

    The statement is at the top level of the file, as in `local Dialog = Container:extend{…}`.
    """
    method = leaf.parent
    if method is not None and method.type == "dot_index_expression":
        method = method.parent
    call = method.parent if method is not None else None
    if method is None or call is None or method.type != "method_index_expression":
        return False
    name = method.child_by_field_name("method")
    if name is None or name == leaf or tree.text(name) not in _LUA_METHODS:
        return False
    values = call.parent
    statement = values.parent if values is not None and values.type == "expression_list" else None
    while statement is not None and statement.type in _LUA_STATEMENTS:
        statement = statement.parent
    return statement is not None and statement.type == "chunk"


def _is_embedded(leaf: Node) -> bool:
    """Return whether a name denotes a type that a Go struct or interface embeds."""
    node = leaf
    parent = node.parent
    while parent is not None and parent.type in ("qualified_type", "generic_type"):
        node, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type == "field_declaration":
        return parent.child_by_field_name("name") is None
    is_alone = parent.type == "type_elem" and parent.named_child_count == 1
    return is_alone and parent.parent is not None and parent.parent.type == "interface_type"


def _is_derived(tree: SourceTree, names: Node) -> bool:
    """Return whether the parentheses around a name follow `derive`, as in `#[derive(Clone)]`."""
    before = names.prev_sibling
    node: Node | None = names
    while node is not None and node.type in ("token_tree", "attribute"):
        node = node.parent
    is_attribute = node is not None and node.type in ("attribute_item", "inner_attribute_item")
    return is_attribute and before is not None and tree.text(before) == "derive"
