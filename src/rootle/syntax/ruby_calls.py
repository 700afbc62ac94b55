"""Recognize bare names in Ruby that can call a method without arguments and parentheses."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
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
_MAX_NODES: Final = 200_000  # of a method that is searched for local variables


class RubyVariables:
    """The local variables with a given name in the methods of a file.

    All lookups must be for the same name: each method is searched once, rather than for each use of
    the name.
    """

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        # Maps the id of a method to the sorted offsets of its variables and, for each variable, the
        # largest end of the scopes up to it.
        self._known: dict[int, tuple[list[int], list[int]]] = {}

    def may_call_method(self, row: int, column: int, size: int) -> bool:
        """Return whether a name in a method body is neither a local variable nor a parameter.

        In this case, Ruby calls the method with this name. The name is `size` bytes long and
        starts at this row and column, both counted from 0. A column is a number of bytes.
        """
        leaf = self._tree.node_at(row, column, size)
        method = self._method_around(leaf)
        return method is not None and not _binds(leaf) and not self._is_known(leaf, method)

    def is_variable(self, row: int, column: int, size: int) -> bool:
        """Return whether a name in a method denotes a local variable or a parameter."""
        leaf = self._tree.node_at(row, column, size)
        method = self._method_around(leaf)
        return method is not None and (_binds(leaf) or self._is_known(leaf, method))

    def _method_around(self, leaf: Node) -> Node | None:
        """Return the method that contains a name, or None if the name cannot be a variable."""
        parent = leaf.parent
        if self._tree.language != "ruby" or leaf.type != "identifier" or parent is None:
            return None
        if parent.type in _NOT_VALUES:
            return None
        scope: Node | None = parent
        while scope is not None and scope.type not in _SCOPES:
            scope = scope.parent
        return scope if scope is not None and scope.type in _METHODS else None

    def _is_known(self, leaf: Node, method: Node) -> bool:
        """Return whether a variable with this name was created before the name in a method."""
        if method.id not in self._known:
            found = sorted(_list_variables(method, leaf.text))
            ends = list(accumulate((end for _, end in found), max))
            self._known[method.id] = [start for start, _ in found], ends
        starts, ends = self._known[method.id]
        at = bisect_left(starts, leaf.start_byte)
        return at > 0 and ends[at - 1] > leaf.start_byte


def _list_variables(method: Node, name: bytes | None) -> Iterator[tuple[int, int]]:
    """Yield the offset of each variable with this name, and the end of its scope."""
    stack, count = [(child, method.end_byte) for child in reversed(method.children)], 0
    while stack and count < _MAX_NODES:
        (node, end), count = stack.pop(), count + 1
        if node.type == "identifier":
            if node.text == name and _binds(node):
                yield node.start_byte, end
        elif node.type not in _SCOPES:
            end = node.end_byte if node.type in _BLOCKS else end
            stack += [(child, end) for child in reversed(node.children)]


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
