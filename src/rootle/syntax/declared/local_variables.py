"""Find the local variables and parameters with a given name in a syntax tree, and their scopes.

The grammars use similar names for similar nodes, so one table of declarations is enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from tree_sitter import Node

from rootle.syntax.declared.bindings import CLASS_SCOPES, find_scope
from rootle.syntax.members import MAKES_FIELD
from rootle.syntax.references import climb_members
from rootle.syntax.ruby_calls import RubyVariables
from rootle.syntax.source_tree import Position, SourceTree

_LEAVES: Final = frozenset(
    """identifier simple_identifier name shorthand_property_identifier_pattern
    shorthand_field_identifier""".split()
)
# Names that are both a variable and a field, as in `Config { name }`.
_SHORTHAND: Final = "shorthand_"
# Nodes that declare variables, and the fields that contain the names. The nodes in _LISTS and
# _FIRST_CHILD have no such field.
_DECLARED_FIELDS: Final = {
    **dict.fromkeys(
        """variable_declarator formal_parameter catch_formal_parameter enhanced_for_statement
        resource instanceof_expression declaration_pattern declaration_expression var_spec
        const_spec parameter_declaration variadic_parameter_declaration default_parameter
        typed_default_parameter named_expression""".split(),
        ("name",),
    ),
    **dict.fromkeys(
        """short_var_declaration range_clause receive_statement foreach_statement for_in_statement
        assignment augmented_assignment for_in_clause""".split(),
        ("left",),
    ),
    "for_statement": ("left", "item"),
    # In Swift, as in `if let name = value`.
    **dict.fromkeys("guard_statement if_statement while_statement".split(), ("bound_identifier",)),
    "catch_block": ("error",),
    **dict.fromkeys(
        """required_parameter optional_parameter let_declaration for_expression let_condition
        match_arm val_definition var_definition""".split(),
        ("pattern",),
    ),
    **dict.fromkeys("declaration init_declarator for_range_loop".split(), ("declarator",)),
    "type_switch_statement": ("alias",),
    "catch_clause": ("parameter",),
    "catch_declaration": ("name",),
    "arrow_function": ("parameter",),
    "lambda_expression": ("parameters",),
    "parameter": ("name", "pattern"),
    "property_declaration": ("name",),
}
# In C and C++, the name is in the declarator of a parameter.
_C_PARAMETERS: Final = frozenset({"parameter_declaration", "optional_parameter_declaration"})
# In these nodes, each child that is a name is a variable.
_LISTS: Final = frozenset(
    """formal_parameters inferred_parameters implicit_parameter closure_parameters parameters
    lambda_parameters lambda_parameter switch_entry""".split()
)
# In these nodes, the first child that is a name is the variable.
_FIRST_CHILD: Final = {
    "kotlin": frozenset({"variable_declaration", "parameter"}),
    "python": frozenset({"typed_parameter"}),
}
# Nodes that contain both the declaration and the code that uses the variable.
_WITH_BODY: Final = re.compile(
    r"match_arm|lambda|type_switch|for|arrow|catch_|if_statement|switch_entry|while_statement"
)
# The patterns of these nodes of Swift declare only the names after "let" or "var".
_WITH_LET: Final = frozenset({"catch_block", "switch_entry"})
# Nodes around a name in a pattern.
_PATTERNS: Final = frozenset(
    """pattern_list tuple_pattern list_pattern object_pattern array_pattern rest_pattern
    list_splat_pattern dictionary_splat_pattern as_pattern_target expression_list slice_pattern
    mut_pattern ref_pattern reference_pattern captured_pattern or_pattern match_pattern
    pointer_declarator reference_declarator array_declarator structured_binding_declarator pattern
    tuple_struct_pattern struct_pattern field_pattern pair_pattern assignment_pattern
    object_assignment_pattern multi_variable_declaration switch_pattern
    parenthesized_variable_designation""".split()
)
# The fields of patterns that contain no variable, such as the type in `Some(name)`.
_NO_VARIABLE: Final = ("type", "key", "right", "size", "condition", "value_type")
_TOP_SCOPES: Final = CLASS_SCOPES | {"template_body", "program", "module", "source_file", "chunk"}
# In these languages, a variable is visible in the whole block that declares it.
_HOISTED: Final = frozenset({"javascript", "python", "tsx", "typescript"})
# In these languages, a call of a name calls the variable with this name, if there is one.
_CALLABLE: Final = frozenset("c cpp go javascript lua python rust swift tsx typescript".split())
# Languages in which uppercase names in patterns are constants.
_WITH_CONSTANT_PATTERNS: Final = frozenset({"rust", "scala"})
_FUNCTIONS_IN_PHP: Final = frozenset(
    "function_definition method_declaration anonymous_function arrow_function".split()
)
_MEMBER_BEFORE: Final = (b".", b"::")
_WITH_ARROWS: Final = frozenset({"c", "cpp", "php"})  # in which "->" selects a member
_MAX_SPACE: Final = 80  # bytes that are searched before a name
_KEYED: Final = re.compile(
    r"argument|keyed|initializer_expression|element_value_pair|label|^field$|(?:^|_)pair$"
)
_KEY_AFTER: Final = re.compile(rb"\s*(?::(?!:)|=(?![=>]))")


class LocalVariables:
    """The local variables and parameters with a given name in a file."""

    def __init__(
        self, tree: SourceTree, places: Iterable[Position], size: int, *, is_plain_call: bool = True
    ) -> None:
        """`places` are the positions of the name, except those of known definitions.

        `size` is the number of bytes of the name. Rows and columns are counted from 0, columns in
        bytes. Unset `is_plain_call` if a variable with the name may hold the function of this name,
        so that a call of the variable calls the function.
        """
        self._is_plain_call = is_plain_call
        self._tree = tree
        self._size = size
        self._ruby = RubyVariables(tree)
        self._ranges: list[tuple[int, int]] = []
        self._globals: list[tuple[int, int]] = []
        lets: dict[int, bool] = {}  # whether a node has a "let" among its children, by node
        for at in places if tree.language not in ("ruby", "php") else ():
            leaf = tree.node_at(*at, size)
            if tree.language == "python" and _is_global(leaf):
                scope = find_scope(tree, leaf)
                self._globals.append((scope.start_byte, scope.end_byte))
            elif leaf.type in _LEAVES:
                self._ranges += _known_ranges(tree, leaf, lets)

    def is_variable(self, row: int, column: int) -> bool:
        """Return whether the name at a position denotes a local variable or parameter."""
        leaf = self._tree.node_at(row, column, self._size)
        is_name = leaf.type in _LEAVES and not leaf.type.startswith(_SHORTHAND)
        if not is_name or _is_member_or_key(self._tree, leaf):
            return False
        match self._tree.language:
            case "ruby":
                return self._ruby.is_variable(row, column, self._size)
            case "php":
                return _is_php_variable(leaf)
        return _is_within(leaf, self._ranges) and not _is_within(leaf, self._globals)

    def is_called(self, row: int, column: int) -> bool:
        """Return whether a call of the name at a position calls a variable rather than a function.

        In languages such as Java, methods and variables with the same name do not hide each other.
        """
        end = self._tree.row_starts[row] + column + self._size
        is_call = self._tree.data[end : end + 1] == b"("
        may_hide = is_call and self._is_plain_call
        return may_hide and self._tree.language in _CALLABLE and self.is_variable(row, column)


def _is_within(leaf: Node, ranges: Collection[tuple[int, int]]) -> bool:
    return any(start <= leaf.start_byte < end for start, end in ranges)


def _known_ranges(tree: SourceTree, leaf: Node, lets: dict[int, bool]) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges in which the variable declared by a name is visible, if any."""
    declaration = _find_declaration(tree, leaf, lets)
    if declaration is None or _is_member_or_type(declaration):
        return
    scope = find_scope(tree, declaration)
    if scope.parent is None or scope.type in _TOP_SCOPES:
        return
    yield leaf.start_byte, leaf.end_byte
    body = declaration.child_by_field_name("body")
    is_parameter = "parameter" in declaration.type
    if tree.language in _HOISTED and not is_parameter:
        # In Python, default values and decorators are evaluated outside of the function.
        body = scope.child_by_field_name("body") if tree.language == "python" else None
        yield (body or scope).start_byte, scope.end_byte
    elif body is not None:
        yield body.start_byte, body.end_byte
    else:
        # In `let name = name.trim()`, the value refers to an earlier variable with this name, so
        # the new one is visible only after its declaration.
        is_whole = _WITH_BODY.search(declaration.type) is not None
        yield leaf.end_byte if is_whole else declaration.end_byte, scope.end_byte


def _is_member_or_type(declaration: Node) -> bool:
    """Return whether a parameter also declares a field, or belongs to the type of a function."""
    if any(child.type in MAKES_FIELD for child in declaration.children):
        return declaration.type in ("required_parameter", "optional_parameter")
    around = declaration.parent
    return around is not None and (around.parent or around).type == "function_type"


def _find_declaration(tree: SourceTree, leaf: Node, lets: dict[int, bool]) -> Node | None:
    """Return the node that declares a name as a variable or parameter, or None."""
    node = leaf
    while (parent := node.parent) is not None and parent.type in _PATTERNS:
        if any(parent.child_by_field_name(field) == node for field in _NO_VARIABLE):
            return None
        node = parent
    if parent is None or _is_constant(tree, leaf, node):
        return None
    if parent.type in _WITH_LET and not _follows_let(tree, leaf, node, lets):
        return None
    fields = _DECLARED_FIELDS.get(parent.type, ())
    if any(node in parent.children_by_field_name(field) for field in fields):
        return parent
    if parent.type in _C_PARAMETERS and parent.child_by_field_name("declarator") == node:
        return parent
    if parent.type in _LISTS:
        return parent
    outer = parent.parent
    if parent.type == "variable_list" and outer is not None and outer.parent is not None:
        return outer if outer.parent.type == "variable_declaration" else None  # `local` in Lua
    first = next((one for one in parent.named_children if one.type in _LEAVES), None)
    if first != node or parent.type not in _FIRST_CHILD.get(tree.language, ()):
        return None
    is_declared = outer is not None and outer.type == "property_declaration"
    return outer if is_declared else parent


def _is_constant(tree: SourceTree, leaf: Node, pattern: Node) -> bool:
    """Return whether a name in a pattern is compared rather than declared, as in `Some(MAX)`."""
    has_constants = tree.language in _WITH_CONSTANT_PATTERNS and pattern != leaf
    return has_constants and tree.text(leaf)[:1].isupper()


def _follows_let(tree: SourceTree, leaf: Node, pattern: Node, lets: dict[int, bool]) -> bool:
    """Return whether a name in a pattern of Swift is declared, as in `case .some(let name)`.

    `lets` remembers which nodes have a "let": a tuple can have thousands of names.
    """
    node: Node | None = leaf
    if tree.data[leaf.start_byte - 1 : leaf.start_byte] == b".":
        return False
    while node is not None and node != pattern.parent:
        if node.id not in lets:
            lets[node.id] = any(child.type == "value_binding_pattern" for child in node.children)
        if lets[node.id]:
            return True
        node = node.parent
    return False


def _is_global(leaf: Node) -> bool:
    return leaf.parent is not None and leaf.parent.type == "global_statement"


def _is_member_or_key(tree: SourceTree, leaf: Node) -> bool:
    """Return whether a name follows a receiver, as in `a.name`, or is a key, as in `f(name=1)`."""
    before = tree.data[max(0, leaf.start_byte - _MAX_SPACE) : leaf.start_byte].rstrip()
    if before.endswith(_MEMBER_BEFORE) and not before.endswith(b".."):
        return True
    if before.endswith(b"->") and tree.language in _WITH_ARROWS:
        return True
    node, receiver = climb_members(tree, leaf)
    if receiver or node.start_byte < leaf.start_byte:
        return True
    is_shorthand = leaf.parent is not None and leaf.parent.type.startswith(_SHORTHAND)
    return is_shorthand or _is_key(tree, leaf)


def is_key(tree: SourceTree, row: int, column: int, size: int) -> bool:
    """Return whether a name is a key, or the name of an argument, as in `f(name=1)`."""
    end = tree.row_starts[row] + column + size
    is_followed = _KEY_AFTER.match(tree.data, end) is not None
    return is_followed and _is_key(tree, tree.node_at(row, column, size))


def _is_key(tree: SourceTree, leaf: Node) -> bool:
    parent = leaf.parent
    around = [one for one in (parent, parent.parent if parent is not None else None) if one]
    is_keyed = any(_KEYED.search(one.type) for one in around)
    return is_keyed and _KEY_AFTER.match(tree.data, leaf.end_byte) is not None


def _is_php_variable(leaf: Node) -> bool:
    """Return whether a name denotes a variable in a PHP function, as in `$name`."""
    variable = leaf.parent
    if variable is None or variable.type != "variable_name" or variable.parent is None:
        return False
    if "property" in variable.parent.type or variable.parent.type == "static_variable_declaration":
        return False
    node: Node | None = variable
    while node is not None and node.type not in _FUNCTIONS_IN_PHP:
        node = node.parent
    return node is not None
