"""Decide whether a name gets a value where it occurs, as in an assignment or as a key."""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from rootle.syntax.references import climb_members
from rootle.syntax.source_tree import SourceTree
from rootle.text.terms import split_identifier

_OPERATOR: Final = re.compile(
    rb"\s*(?:(?:[-+*/%&|^.]|\*\*|//|<<|>>>?|\|\||&&|\?\?)?=(?![=~>])|:=|\+\+|--)"
)
_STEP_BEFORE: Final = re.compile(rb"(?:\+\+|--)\s*\(?$")
# The name of a constant, such as MAX_SIZE or App_MaxSize, which can be the key of a setting.
_CONSTANT: Final = re.compile(r"[A-Z]\w*_\w+|[A-Z][A-Z\d]+")
_ARGUMENTS: Final = re.compile(r"(?:value_)?arguments?(?:_list)?")
_CALLED: Final = ("function", "name", "method")
# In these languages, `name = value` compares, or can only define the name.
_WITHOUT_ASSIGNMENTS: Final = frozenset({"haskell", "sql", "css", "scss", "less"})
# A parameter with a default value, or a pattern that takes values out of an object.
_NOT_SET: Final = re.compile(r"parameter|(?:field|pair|object_assignment)_pattern|named_pattern")
_STOP: Final = re.compile(r"statement|block|body|arguments|argument_list$|lambda|function")
_MAX_CLIMB: Final = 6
_ELEMENTS: Final = frozenset(
    """subscript subscript_expression index_expression element_reference element_access_expression
    array_access array_access_expression indexing_expression bracket_index_expression
    pointer_expression dereference_expression parenthesized_expression""".split()
)
# Nodes around the names on the left of `a, b = 1, 2`.
_TARGETS: Final = frozenset(
    """pattern_list tuple_pattern list_pattern expression_list left_assignment_list variable_list
    array_pattern tuple tuple_expression array list rest_pattern splat_pattern
    directly_assignable_expression literal_element field_designator""".split()
)
# Nodes that assign the value in one of their fields to the name in another field.
_SETTING: Final = re.compile(
    r"assign|declar|initializer|keyword_argument|for_|let_|_spec|binding|property"
    r"|^pair$|value_pair|keyed_element|named_argument"
)
# Nodes around the name of an argument in `f(name: value)`.
_ARGUMENT: Final = re.compile(r"(?:value_)?argument(?:_label)?|name_colon")
_COLON: Final = re.compile(rb"\s*:(?!:)")
_NAME_FIELDS: Final = ("left", "name", "pattern", "declarator", "field", "key", "designator")
_VALUE_FIELDS: Final = ("right", "value", "initializer", "default_value")
_AFTER_STRING_KEY: Final = re.compile(rb"[\"'`]\s*(?::(?!:)|=>|\]\s*(?:=(?![=~>])|\+=))")
# `name: value` and `name = value` in configuration files.
_KEY_BEFORE: Final = re.compile(r"[\s\"'-]*(?:[\w-]+\.)*$")
_MAX_KEY_CHARS: Final = 500  # of the text before the last name of a key, such as "a.b."
_KEY_AFTER: Final = re.compile(r"[\"']?\s*[:=](?![:=>])")
SETTINGS_LANGUAGES: Final = frozenset("json jsonc yaml toml ini properties dotenv".split())
_OPERATOR_IN_LINE: Final = re.compile(_OPERATOR.pattern.decode())


def is_assignment(tree: SourceTree, row: int, column: int, size: int) -> bool:
    """Return whether the `size` bytes at a position are a name that gets a value there.

    Rows and columns are counted from 0, columns in bytes.
    """
    leaf = tree.node_at(row, column, size)
    end = tree.row_starts[row] + column + size
    if _AFTER_STRING_KEY.match(tree.data, end) and "string" in _types(leaf, 2):
        return True
    if tree.language in _WITHOUT_ASSIGNMENTS or _is_taken(leaf):
        return False
    node, _ = climb_members(tree, leaf)
    if _is_key_of_setter(tree, leaf, node):
        return True
    while (parent := node.parent) is not None and (
        parent.type in _TARGETS or (parent.type in _ELEMENTS and _is_element_of(node, parent))
    ):
        if _is_set(node, parent):
            return True
        node = parent
    if parent is None:
        return False
    if leaf.type.startswith("shorthand_"):  # `{ name }`
        return "pattern" not in leaf.type
    if _is_set(node, parent) or parent.type == "shorthand_field_initializer":
        return True
    if _ARGUMENT.fullmatch(parent.type) and _COLON.match(tree.data, node.end_byte):
        return True
    if _OPERATOR.match(tree.data, node.end_byte):
        # In bash, a variable is assigned without spaces.
        return tree.language != "bash" or not tree.data[node.end_byte :][:1].isspace()
    return _STEP_BEFORE.search(tree.data[max(0, node.start_byte - 4) : node.start_byte]) is not None


def is_assignment_in_line(line: str, column: int, size: int, language: str) -> bool:
    """Return whether a name in a line of a file without a syntax tree gets a value there."""
    before, after = line[:column], line[column + size :]
    if language in SETTINGS_LANGUAGES:
        is_key = len(before) <= _MAX_KEY_CHARS and _KEY_BEFORE.match(before) is not None
        return is_key and _KEY_AFTER.match(after) is not None
    return language not in _WITHOUT_ASSIGNMENTS and _OPERATOR_IN_LINE.match(after) is not None


def _is_key_of_setter(tree: SourceTree, leaf: Node, node: Node) -> bool:
    """Return whether a name is the key in a call such as `set_option(options, MAX_SIZE, 3)`.

    `node` is the whole argument. The value is a later argument.
    """
    if not _CONSTANT.fullmatch(tree.text(leaf)):
        return False
    arguments = node.parent
    if arguments is not None and arguments.type == "argument":  # in C# and PHP
        node, arguments = arguments, arguments.parent
    if arguments is None or not _ARGUMENTS.fullmatch(arguments.type):
        return False
    call = arguments.parent
    called = (call.child_by_field_name(field) for field in _CALLED) if call is not None else ()
    name = next((one for one in called if one is not None), None)
    if name is None or arguments.named_children[-1:] == [node]:
        return False
    return "set" in split_identifier(re.split(r"\W", tree.text(name))[-1])


def _types(leaf: Node, count: int) -> str:
    types, node = leaf.type, leaf.parent
    for _ in range(count):
        types, node = (f"{types} {node.type}", node.parent) if node is not None else (types, node)
    return types


def _is_taken(leaf: Node) -> bool:
    """Return whether a name is a parameter or a part of a pattern."""
    node = leaf.parent
    for _ in range(_MAX_CLIMB):
        if node is None or _STOP.search(node.type):
            return False
        if _NOT_SET.search(node.type):
            return True
        node = node.parent
    return False


def _is_element_of(node: Node, parent: Node) -> bool:
    """Return whether `parent` selects an element of `node`, rather than using it as the index."""
    return next((child for child in parent.named_children), None) == node


def _is_set(node: Node, parent: Node) -> bool:
    if not _SETTING.search(parent.type):
        return False
    if parent.type == "keyed_element" or parent.type == "field_initializer":
        return parent.named_children[0] == node and len(parent.named_children) > 1
    has_value = any(parent.child_by_field_name(name) is not None for name in _VALUE_FIELDS)
    return has_value and any(parent.child_by_field_name(name) == node for name in _NAME_FIELDS)
