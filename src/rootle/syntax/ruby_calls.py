"""Recognize bare names in Ruby that can call a method without arguments and parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree

_METHODS: Final = frozenset({"method", "singleton_method"})
# Local variables are not visible beyond these nodes.
_SCOPES: Final = _METHODS | {"class", "module", "singleton_class"}
_BLOCKS: Final = frozenset({"block", "do_block", "lambda"})
# Nodes that create a local variable for each name in them, not only for a name on the left side.
_BINDINGS: Final = re.compile(r"_parameters?$|^exception_variable$|_assignment_list$|_pattern$")
_LEFT: Final = {"assignment": "left", "operator_assignment": "left", "for": "pattern"}
_NOT_VALUES: Final = frozenset({"alias", "undef", *_METHODS})
_MAX_NODES: Final = 20_000  # of a method that is searched for local variables


def may_call_method(tree: SourceTree, row: int, column: int, size: int) -> bool:
    """Return whether a name in a method body is neither a local variable nor a parameter.

    In this case, Ruby calls the method with this name. The `size` bytes at a position are the name;
    rows and columns are counted from 0, columns in bytes.
    """
    leaf = tree.node_at(row, column, size)
    parent = leaf.parent
    if tree.language != "ruby" or leaf.type != "identifier" or parent is None:
        return False
    if parent.type in _NOT_VALUES or _binds(leaf):
        return False
    scope: Node | None = parent
    while scope is not None and scope.type not in _SCOPES:
        scope = scope.parent
    if scope is None or scope.type not in _METHODS:
        return False
    name = leaf.text
    return not any(node.text == name and _binds(node) for node in _list_visible(scope, leaf))


def _list_visible(scope: Node, leaf: Node) -> Iterator[Node]:
    """Yield the identifiers before a leaf in a method, without those in blocks that have ended."""
    stack, count = list(scope.children), 0
    while stack and count < _MAX_NODES:
        node, count = stack.pop(), count + 1
        has_ended = node.type in _BLOCKS and node.end_byte <= leaf.start_byte
        if node.start_byte >= leaf.start_byte or has_ended:
            continue
        if node.type == "identifier":
            yield node
        elif node.type not in _SCOPES:
            stack += node.children


def _binds(node: Node) -> bool:
    """Return whether an identifier creates a local variable or is a parameter."""
    parent = node.parent
    if parent is None or parent.child_by_field_name("value") == node:
        # In `in {name: variable}`, the value of the pattern is the variable.
        return parent is not None and parent.type == "keyword_pattern"
    if parent.type == "right_assignment_list":
        return False
    field = _LEFT.get(parent.type)
    if field is not None:
        return parent.child_by_field_name(field) == node
    return _BINDINGS.search(parent.type) is not None
