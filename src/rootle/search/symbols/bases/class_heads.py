"""Read the names of base classes in the head of a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from rootle.syntax.symbol_outline import Unit
from rootle.text.terms import WORD

_MAX_HEAD: Final = 200  # bytes of a class that are read if its grammar does not mark the body
# Nodes that contain no names of base classes, by parts of their types. In Ruby, the node of a body
# begins only after the comments at its start.
_IGNORED: Final = ("comment", "modifier", "type_parameter")
_TRAIT_USE: Final = "use_declaration"
_AFTER_QUALIFIER: Final = (b"::", b".", b"\\")


def base_names(unit: Unit) -> list[str]:
    """Return the names before the body of a class, which include the names of its base classes.

    Keywords, modifiers, comments, type parameters, and qualifiers such as "a" in `a::B` are left
    out. The traits that a class of PHP uses in its body count as base classes.
    """
    node = unit.node.child_by_field_name("definition") or unit.node  # without decorators
    body = node.child_by_field_name("body")
    end = body.start_byte if body is not None else node.start_byte + _MAX_HEAD
    text = node.text or b""
    names = (
        leaf
        for leaf in (*_find_leaves(node, end), *_find_traits(node, body))
        if not text.startswith(_AFTER_QUALIFIER, leaf.end_byte - node.start_byte)
    )
    words = (word for leaf in names for word in WORD.findall(_read(leaf)))
    return [word for word in words if word != unit.symbol]


def _find_leaves(node: Node, end: int) -> Iterator[Node]:
    """Yield, in source order, the named leaf nodes that begin before a byte offset."""
    left = [node]
    while left:
        last = left.pop()
        if last.start_byte >= end or any(word in last.type for word in _IGNORED):
            continue
        if last.child_count:
            left.extend(reversed(last.children))
        elif last.is_named:
            yield last


def _find_traits(node: Node, body: Node | None) -> Iterator[Node]:
    """Yield the leaves of the traits that a class of PHP uses in its body."""
    # A module of Rust also contains nodes of this type, which are imports.
    if body is None or not node.type.endswith("_declaration"):
        return
    for used in body.named_children:
        if used.type == _TRAIT_USE:
            yield from _find_leaves(used, used.end_byte)


def _read(leaf: Node) -> str:
    return (leaf.text or b"").decode("utf-8", "replace")
