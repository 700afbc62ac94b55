"""Classify the occurrences of a name in a syntax tree: calls, imports, types, comments, …

The grammars use the same names for similar nodes, so one table of node types is enough for all
languages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from rootle.syntax.base_clauses import is_base
from rootle.syntax.declared.type_names import is_in_type
from rootle.syntax.files.markup import classify_markup
from rootle.syntax.source_tree import SourceTree

_COMMENT: Final = re.compile(r"comment|haddock")
_STRING: Final = re.compile(
    r"string|char|heredoc|nowdoc|regex|quoted|raw_text|str_text|jsx_text|^text$|system_lib"
)
# Nodes of code, which can also be inside a string: "${name}".
_CODE_LEAF: Final = re.compile(r"identifier|variable|name|constant|alias|word")
# Nodes of names that are written like values: `:name` in Ruby, `name:` in Elixir.
_SYMBOL: Final = frozenset("simple_symbol hash_key_symbol atom quoted_atom keyword".split())
_IMPORTS: Final = frozenset(
    """import_statement import_from_statement future_import_statement import_declaration
    import_spec import import_alias import_require_clause using_directive using_declaration
    use_declaration namespace_use_declaration preproc_include export_clause export_specifier
    export_declaration package_declaration package_header package_clause imports exports
    extern_crate_declaration using_namespace_declaration requires_module_directive
    include_expression include_once_expression require_expression require_once_expression
    namespace_alias_definition file_scoped_namespace_declaration""".split()
)
_EXPORTS: Final = frozenset({"export_clause", "export_specifier", "exports"})
_PUBLIC: Final = "visibility_modifier"  # "pub" in Rust
_CALLS: Final = frozenset(
    """call call_expression method_invocation invocation_expression invocation
    object_creation_expression new_expression function_call function_call_expression
    member_call_expression nullsafe_member_call_expression scoped_call_expression
    macro_invocation constructor_expression constructor_invocation
    explicit_constructor_invocation annotation marker_annotation decorator command apply
    instance_expression jsx_opening_element jsx_self_closing_element attribute_item""".split()
)
_CALLEE_FIELDS: Final = ("function", "name", "method", "constructor", "macro", "type", "target")
_ARGUMENT_FIELDS: Final = ("arguments", "argument", "receiver", "object", "scope", "block", "body")
# Nodes that select a member by their last part: a.b, A::b.
_MEMBERS: Final = frozenset(
    """member_expression member_access_expression field_expression field_access
    selector_expression scoped_identifier scoped_type_identifier qualified_identifier
    qualified_type qualified_name qualified navigation_expression navigation_suffix dot
    dot_index_expression method_index_expression scope_resolution dotted_name nested_identifier
    nested_type_identifier member_type stable_identifier stable_type_identifier
    member_binding_expression alias_qualified_name method_invocation member_call_expression
    nullsafe_member_call_expression scoped_call_expression class_constant_access_expression
    nullsafe_member_access_expression scoped_property_access_expression variable_list
    conditional_access_expression method_reference""".split()
)
# Nodes whose first part is the name: f<T>, Class<T>.
_WRAPPERS: Final = frozenset(
    """generic_function generic_type generic_name template_function template_type
    generic_type_with_turbofish user_type simple_type constructed_type type command_name
    non_null_expression parenthesized_expression simple_user_type directly_assignable_expression
    variable named_type type_constructor primary_constructor_base_type""".split()
)
_RECEIVER_FIELDS: Final = (
    "object receiver scope operand value expression left path qualifier table argument module"
).split()
_TYPE: Final = re.compile(
    r"^(?:type_identifier|named_type|type|type_annotation|user_type|simple_type|type_arguments"
    r"|type_argument_list|nullable_type|optional_type|union_type|return_type|type_list"
    r"|type_parameters|type_bound|type_bounds|function_type|reference_type|type_projection"
    r"|array_type|pointer_type|slice_type|map_type|signature|type_specifier|cast_expression)$"
)
_TYPE_FIELDS: Final = ("type", "return_type", "returns", "result", "trait")
_STOP: Final = re.compile(
    r"statement|block|body|declaration_list|^program$|^module$|source_file|^chunk$"
)
_MAX_CLIMB: Final = 12
MAX_RECEIVER: Final = 1_000  # characters of a receiver that are returned, from its end
_MAX_SPACE: Final = 80  # bytes that are searched before or after a name
_REQUIRE: Final = re.compile(rb"(?:await\s+)?(?:require(?:_relative)?|import)\b")
# The call around the path of a module, and the nodes between the two.
_LOADING_CALLS: Final = frozenset({"call", "call_expression", "function_call"})
_LOADED_PATHS: Final = frozenset(
    "argument_list arguments string string_content string_fragment template_string".split()
)
_LOADING: Final = re.compile(rb"(?:require(?:_relative)?|import)\s*[(\"' ]")
# The text after a variable to which a module is assigned.
_LOADED: Final = re.compile(rb"\s*=\s*(?:await\s+)?(?:require|@?import)\b")
# In these languages, a use of a member needs a value, a type or a pattern: `value.member`.
_WITH_RECEIVERS: Final = frozenset("go javascript python rust tsx typescript".split())
_WITH_FIELD_NAMES: Final = frozenset(
    "keyword_argument keyword_pattern literal_element shorthand_field_initializer".split()
)
_ELIXIR_IMPORTS: Final = frozenset({"alias", "import", "use", "require"})


@dataclass(frozen=True, slots=True)
class OccurrenceRole:
    """The role of one occurrence of a name."""

    # definition, implementation, call, type, import, export, reference, comment or string
    kind: str
    receiver: str = ""  # the text before the name: "self", "client.session", "std::fs"


def classify(tree: SourceTree, row: int, column: int, size: int) -> OccurrenceRole:
    """Return the role of the `size` bytes at a position (counted from 0, columns in bytes).

    Definitions are not recognized here: `SourceTree.find_definitions` finds them.
    """
    leaf = tree.node_at(row, column, size)
    if tree.has_markup and leaf.parent is None:
        start = tree.row_starts[row] + column
        return OccurrenceRole(*classify_markup(tree.data, tree.styles, start, start + size))
    if role := _literal_kind(leaf):
        return OccurrenceRole("import" if role == "string" and _is_import(tree, leaf) else role)
    node, receiver = climb_members(tree, leaf)
    # In Elixir, `use Base` is both an import and a mixin, so check for a base first.
    if is_base(tree, leaf, tree.row_starts[row] + column + size):
        return OccurrenceRole("implementation", receiver)
    if _is_import(tree, leaf):
        return OccurrenceRole("export" if _is_export(leaf) else "import", receiver)
    if is_in_type(tree, leaf):
        return OccurrenceRole("type", receiver)
    if _is_call(tree, node) or _is_called_token(tree, leaf, row, column + size):
        return OccurrenceRole("call", receiver)
    return OccurrenceRole("type" if _is_type(tree, leaf) else "reference", receiver)


def _is_export(leaf: Node) -> bool:
    """Return whether a name in an import or export statement is exported.

    Examples are `export { a } from "b"` and `pub use a::b`.
    """
    node: Node | None = leaf
    while node is not None and node.type not in _EXPORTS:
        if node.type == "use_declaration":
            return node.named_child_count > 0 and node.named_children[0].type == _PUBLIC
        node = node.parent
    return node is not None


def import_statement(tree: SourceTree, row: int, column: int, size: int) -> str:
    """Return the text of the import around a position, or "" if there is none."""
    leaf = tree.node_at(row, column, size)
    if not _is_import(tree, leaf):
        return ""
    if (call := _loading_call(tree, leaf)) is not None:
        return tree.text(call)
    node = leaf
    while (parent := node.parent) is not None:
        if parent.type == "assignment_statement" and tree.language == "lua":
            return tree.text(parent)
        if node.type == "variable_declarator" and parent.named_child_count > 1:
            return tree.text(node)  # the other variables get the values of other modules
        if node.type in _IMPORTS and parent.type not in _IMPORTS:
            return tree.text(parent if parent.type.startswith("export") else node)
        if _STOP.search(parent.type) and parent.type not in _IMPORTS:
            break
        node = parent
    return tree.text(node)


def is_plain_name(tree: SourceTree, row: int, column: int, size: int, *, is_method: bool) -> bool:
    """Return whether a name at a position has no receiver, so that it cannot be a class member.

    The name of an argument, as in `Box(width=1)`, can be the name of a field, but not of a method.
    """
    leaf = tree.node_at(row, column, size)
    parent = leaf.parent
    if tree.language not in _WITH_RECEIVERS or parent is None:
        return False
    if leaf.type not in ("identifier", "type_identifier"):
        return False
    start = leaf.start_byte
    before = tree.data[max(0, start - MAX_RECEIVER) : start].rstrip()
    if before.endswith((b".", b"::")) and not before.endswith(b".."):
        return False
    if parent.type in _WITH_FIELD_NAMES:
        return is_method
    return tree.language != "python" or not _is_in_class_scope(leaf)


def can_rename_member(tree: SourceTree, row: int, column: int, size: int) -> bool:
    """Return whether a variable with the same name may get the value of the member at a position.

    Examples are `const { name } = value` and `name = value.name`.
    """
    leaf = tree.node_at(row, column, size)
    if leaf.type.startswith("shorthand_"):
        return True
    end = leaf.end_byte
    after = tree.data[end : end + _MAX_SPACE]
    name = b"." + tree.data[leaf.start_byte : end]
    # Nearly all text after a name lacks this, and a pattern takes far longer to compile.
    if name not in after:
        return False
    return re.match(rb"\s*:?=\s*[\w.]+" + re.escape(name) + rb"\b", after) is not None


def _is_in_class_scope(leaf: Node) -> bool:
    """Return whether Python evaluates a name in the body of a class and not inside a method."""
    node = leaf
    while (parent := node.parent) is not None:
        if parent.type == "class_definition" and parent.child_by_field_name("body") == node:
            return True
        if parent.type == "lambda":
            return False
        if parent.type == "function_definition":
            is_type = parent.child_by_field_name("return_type") == node
            is_list = parent.child_by_field_name("parameters") == node
            if not is_type and not (is_list and _is_evaluated(leaf, node)):
                return False
        node = parent
    return False


def _is_evaluated(leaf: Node, parameters: Node) -> bool:
    """Return whether a name is in the type or the default value of a parameter."""
    node = leaf
    while (parent := node.parent) is not None and node != parameters:
        if any(parent.child_by_field_name(name) == node for name in ("type", "value")):
            return True
        node = parent
    return False


def binds_import(tree: SourceTree, row: int, column: int, size: int) -> bool:
    """Return whether the `size` bytes at a position are a name that an import binds.

    The import `from a import b` binds b, but not a.
    """
    leaf = tree.node_at(row, column, size)
    role = _literal_kind(leaf)
    if role == "comment" or (role and tree.language != "go"):
        return False
    after = tree.data[leaf.end_byte : leaf.end_byte + _MAX_SPACE]
    if not role and _LOADED.match(after):
        return leaf.parent is None or leaf.parent.type != "field"  # a key of a table of Lua
    if not _is_import(tree, leaf):
        return False
    if tree.language != "python":
        return not after.startswith((b".", b"::", b"\\"))
    node = leaf
    while (parent := node.parent) is not None and parent.type in ("dotted_name", "relative_import"):
        node = parent
    return parent is None or parent.child_by_field_name("module_name") != node


def climb_members(tree: SourceTree, leaf: Node) -> tuple[Node, str]:
    """Return the largest node that ends with the name, and the text before the name."""
    node, receiver = leaf, ""
    while (parent := node.parent) is not None:
        is_member = parent.type in _MEMBERS or (
            parent.type == "attribute" and tree.language == "python"
        )
        if parent.type in ("call", "method_invocation") or parent.type in _CALLS:
            receiver = receiver or _receiver_in(tree, parent, node)
            break
        if is_member and (parent.end_byte == node.end_byte) and parent.start_byte < leaf.start_byte:
            receiver = receiver or _text_before(tree, parent, node)
            node = parent
        elif (is_member and parent.end_byte == node.end_byte) or (
            parent.type in _WRAPPERS and parent.start_byte == node.start_byte
        ):
            node = parent
        else:
            break
    return node, receiver


def _literal_kind(leaf: Node) -> str:
    """Return "comment" for text in a comment, "string" for text in a string, "" for code."""
    node: Node | None = leaf
    if leaf.type in _SYMBOL:
        return ""
    while node is not None:
        if _COMMENT.search(node.type):
            return "comment"
        if node.type in _SYMBOL:
            return ""
        # In Scala, the text of s"…" has no node of its own, so the whole string is its node.
        is_text = "interpol" not in node.type or node is leaf
        if _STRING.search(node.type) and node.is_named and is_text:
            return "" if _CODE_LEAF.search(leaf.type) and node is not leaf else "string"
        if _CODE_LEAF.search(leaf.type) or _STOP.search(node.type):
            return ""
        node = node.parent
    return ""


def _text_before(tree: SourceTree, parent: Node, node: Node) -> str:
    before = tree.data[parent.start_byte : node.start_byte].decode("utf-8", "replace")
    return before.strip().rstrip(".:->?!\\&").strip()[-MAX_RECEIVER:]


def _receiver_in(tree: SourceTree, call: Node, node: Node) -> str:
    """Return the receiver if it is a field of the call's node, as in Java, PHP and Ruby."""
    for name in _RECEIVER_FIELDS:
        found = call.child_by_field_name(name)
        if found is not None and found != node and found.end_byte <= node.start_byte:
            return tree.text(found)[-MAX_RECEIVER:]
    return ""


def _is_call(tree: SourceTree, node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "identifier" and parent.parent is not None:  # the node is a part of a name
        parent = parent.parent
    if parent.type == "attribute" and tree.language in ("csharp", "rust"):
        return True
    if parent.type == "infix" and tree.language == "haskell":
        return node.type == "operator" or parent.child_by_field_name("operator") == node
    if parent.type not in _CALLS or (node.type == "name" and tree.language == "haskell"):
        return False  # a `name` in Haskell is a type
    for name in _ARGUMENT_FIELDS:
        found = parent.child_by_field_name(name)
        if found is not None and found == node:
            return False
    for name in _CALLEE_FIELDS:
        if parent.child_by_field_name(name) == node:
            return True
    named = parent.named_children
    return bool(named) and named[0] == node


def _is_called_token(tree: SourceTree, leaf: Node, row: int, end: int) -> bool:
    """Return whether "(" follows a name, for macros and grammars without a call node."""
    if tree.language in ("haskell", "bash", "css", "html"):
        return False
    at = tree.row_starts[row] + end
    after = tree.data[at : at + 8].lstrip(b" !")
    if not after.startswith(b"("):
        return False
    parent = leaf.parent
    if _is_destructor(leaf):
        return False
    # `pair (1, 2)` in a tuple pattern, `catch (E)` and parameters are not calls.
    return parent is None or not _STOP.fullmatch(parent.type)


def _is_destructor(leaf: Node) -> bool:
    """Return whether a name declares or defines a C++ destructor, as in `Window::~Window()`."""
    node: Node | None = leaf if leaf.type == "destructor_name" else leaf.parent
    if node is None or node.type != "destructor_name":
        return False
    while (parent := node.parent) is not None and parent.type == "qualified_identifier":
        node = parent
    return parent is not None and parent.type == "function_declarator"


def _loading_call(tree: SourceTree, leaf: Node) -> Node | None:
    """Return the call that loads the module whose path contains a name: `require("a.name")`."""
    node: Node | None = leaf
    while node is not None and node.type in _LOADED_PATHS:
        node = node.parent
    is_call = node is not None and node != leaf and node.type in _LOADING_CALLS
    return node if node and is_call and _LOADING.match(tree.data, node.start_byte) else None


def _is_import(tree: SourceTree, leaf: Node) -> bool:
    if _loading_call(tree, leaf) is not None:
        return True
    node: Node | None = leaf
    for _ in range(_MAX_CLIMB):
        node = node.parent if node is not None else None
        if node is None:
            return False
        if node.type in _IMPORTS:
            return not (tree.language == "php" and node.type == "use_declaration")
        if node.type == "variable_declarator" or (
            node.type == "assignment_statement" and tree.language == "lua"
        ):
            value = node.child_by_field_name("value") or node.named_children[-1]
            return (
                value is not None
                and value.start_byte >= leaf.end_byte
                and _REQUIRE.match(tree.data, value.start_byte) is not None
            )
        if tree.language == "elixir" and node.type == "call":
            target = node.child_by_field_name("target")
            return target is not None and tree.text(target) in _ELIXIR_IMPORTS
        if node.type in ("class_body", "block", "compound_statement", "function_body"):
            return False
    return False


def _is_type(tree: SourceTree, leaf: Node) -> bool:
    node = leaf
    if node.type == "name" and tree.language == "haskell":
        return True
    for _ in range(5):
        if _TYPE.match(node.type):
            return True
        parent = node.parent
        if parent is None or _STOP.search(parent.type) or parent.type in _CALLS:
            return False
        if parent.type == "lambda_parameter" and node.type == "simple_identifier":
            return False  # the name of a parameter in Swift
        if any(parent.child_by_field_name(name) == node for name in _TYPE_FIELDS):
            return True
        node = parent
    return False
