"""Find defined names that the outline leaves out, such as the names of fields.

The outline contains the definitions that become chunks or symbols of the index. Fields, attributes,
record components, aliases and similar names are found here, in the syntax tree of a file that
contains the name.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree

_MAX_ANCESTORS: Final = 12
# The fields of a node are looked up if it has at most this many children. A node with more children
# is a list, and the items of a list are not in fields.
_MAX_CHILDREN: Final = 100
# In Elixir, these attributes describe the definition that follows them.
_ELIXIR_NOTES: Final = frozenset(
    """after_compile before_compile behaviour callback deprecated derive dialyzer doc
    external_resource impl macrocallback moduledoc on_load opaque optional_callbacks spec tag type
    typedoc""".split()
)
# Calls in the body of a Ruby class. Their arguments contain the names of methods.
RUBY_METHODS: Final = frozenset(
    """alias_attribute alias_method attr attr_accessor attr_reader attr_writer attribute belongs_to
    cattr_accessor class_attribute def_delegator def_delegators define_method delegate enum
    has_and_belongs_to_many has_many has_one helper_method mattr_accessor scope""".split()
)
_PREFIX: Final = re.compile(r"\bprefix(?::|:?\s*=>)\s*+(?!false\b|nil\b)")
_UNQUOTED: Final = re.compile(rb"\bdefp?[ \t(]+unquote\(")
_KINDS_IN_C: Final = (
    (
        r"field_identifier:declarator(?:<\w+_declarator(?::declarator)?)*<field_declaration(?:<|$)",
        "field",
    ),
    # `DEPRECATED(int size);` in a struct, which the parser takes for a type or a constructor.
    (
        r"\w*identifier(?::\w+)?(?:<\w+(?::\w+)?)*?"
        r"<(?:macro_type_specifier:type<field_declaration|function_declarator:declarator<declaration)"
        r"<field_declaration_list",
        "field",
    ),
)
# The text around a field that is the argument of a macro.
_BEFORE_MACRO_FIELD: Final = re.compile(rb"[A-Z][A-Z\d_]+[ \t]*\((?:\w+[\s*&]+)+\Z")
_AFTER_MACRO_FIELD: Final = re.compile(rb"(?:\[\w*\])*\s*\)\s*;")
OBJECT_KEY: Final = "key"  # the kind of a key of a JavaScript object
# Functions that return their argument, or that describe objects with the keys of the argument.
# `defineProps` and the like describe a component of Vue.
_OBJECT_FUNCTIONS: Final = re.compile(r"(?:^|\.)(?:freeze|object|seal|define[A-Z]\w*)$")
_LOADED: Final = re.compile(rb"(?:await\s+)?(?:require|import)\b")
# The text of a string, which is the name of a definition if it contains nothing else.
_TEXTS: Final = frozenset({"string_content", "string_fragment"})
_SET_ATTRIBUTE: Final = re.compile(rb"setattr\(\s*(?:self|cls)\s*,")
_EXPORTS: Final = re.compile(rb"(?:module\.)?exports\.")
# In TypeScript, a constructor parameter with one of these modifiers also declares a field.
MAKES_FIELD: Final = frozenset({"accessibility_modifier", "readonly", "override_modifier"})
_KINDS_IN_TYPESCRIPT: Final = (
    (r"\w*property_identifier:name<(?:property_signature|public_field_definition)", "field"),
    (r"\w*property_identifier:property<field_definition", "field"),
    (r"identifier(?::alias<export_specifier|<namespace_export)", "export"),
    # `exports.name = require("./name")`
    (r"property_identifier:property<member_expression:left<assignment_expression", "export"),
    # `Object.defineProperty(exports, "name", { … })`
    (r"string_fragment<string<arguments:arguments<call_expression", "variable"),
    # `data() { return { name: 1 } }` in a component of Vue
    (
        r"property_identifier:key<pair<object<return_statement<statement_block:body"
        r"<method_definition",
        OBJECT_KEY,
    ),
    # `constructor(private readonly name: Type)`
    (r"identifier:pattern<(?:required|optional)_parameter", "field"),
    # NOT_FOUND in `const codes = { NOT_FOUND: createError(…) }` outside of functions.
    (
        r"(?:property_identifier|string_fragment<string):key<pair<object(?::value<pair<object)*"
        r"(?:<arguments:arguments<call_expression|<(?:as|satisfies)_expression)*"
        r":(?:right<assignment_expression<expression_statement|value<export_statement"
        r"|value<variable_declarator<(?:lexical|variable)_declaration"
        r"(?::declaration<export_statement)?)<program",
        OBJECT_KEY,
    ),
    (
        r"(?:shorthand_property_identifier_pattern|identifier(?::value<pair_pattern)?)"
        r"<(?:object|array)_pattern:name<variable_declarator<(?:lexical|variable)_declaration"
        r"(?::declaration<export_statement)?<program",
        "variable",
    ),
    (
        r"identifier:name<variable_declarator<(?:lexical|variable)_declaration"
        r"(?::declaration<export_statement)?<(?:ambient_declaration|statement_block"
        r"(?:<ambient_declaration|:body<(?:internal_)?module))",
        "variable",
    ),
)
# Maps a language to pairs of a pattern and a kind of definition. The pattern is matched against the
# types of the nodes around a name, innermost first. The type of a node is followed by a colon and
# the name of the field that holds the node in its parent.
_KINDS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "bash": (
        (r"variable_name<declaration_command", "variable"),
        (
            r"variable_name:name<variable_assignment(?:<\w+(?:_statement|_item|_clause|_group)"
            r"(?::\w+)?)*<program",
            "variable",
        ),
        (r"word<concatenation:argument<command", "alias"),
    ),
    "c": _KINDS_IN_C,
    "cpp": _KINDS_IN_C,
    "csharp": (
        (r"identifier:name<parameter<parameter_list(?::\w+)?<record_", "field"),
        (r"identifier:name<using_directive", "alias"),
        (r"identifier:name(?:<qualified_name:name)?<(?:file_scoped_)?namespace_decl", "namespace"),
    ),
    "elixir": (
        (r"identifier:target<call:operand<unary_operator", "attribute"),
        # `all: 2` in `@callbacks [all: 2]`: a function that `def unquote(name)` defines.
        (
            r"keyword:key<pair<keywords(?:<list)?<arguments<call:operand<unary_operator<do_block",
            "def",
        ),
        (r"(?:atom|keyword:key<pair<keywords)(?:<list)?<arguments<call", "field"),
    ),
    "go": ((r"field_identifier:name<field_declaration", "field"),),
    "haskell": (
        (r"variable<field_name:name<field", "field"),
        (r"constructor:name(?:<binding_list:names)?<gadt_constructor", "constructor"),
        (r"variable:name<binding_list:names<signature:declaration<class_decl", "declaration"),
        (r"variable<infix_id:operator<infix<function", "function"),
        (r"constructor(?::function<apply)?:synonym<equation<pattern_synonym", "pattern"),
        (r"variable:name<signature:signature<foreign_import", "function"),
        (r"name:name<(?:type|data)_family", "type"),
        (r"variable:element<tuple:pattern<bind<declarations", "variable"),
    ),
    "java": ((r"identifier:name<formal_parameter<formal_parameters:parameters<record_", "field"),),
    "javascript": _KINDS_IN_TYPESCRIPT,
    "kotlin": (
        (r"identifier(?::\w+)?<class_parameter", "field"),
        (
            r"identifier<variable_declaration(?:<multi_variable_declaration)?<property_declaration"
            r"<(?:source_file|enum_class_body)",
            "variable",
        ),
    ),
    "lua": (
        (
            r"identifier:(?:name|field<dot_index_expression:name)<variable_list"
            r"<assignment_statement<chunk",
            "variable",
        ),
        (
            r"string_content:content<string:field<bracket_index_expression:name<variable_list"
            r"<assignment_statement<chunk",
            "variable",
        ),
    ),
    "php": (
        (r"name<variable_name:name<property_promotion_parameter", "field"),
        (r"string_content<string<argument<arguments:arguments<function_call_exp", "constant"),
        # 'timeout' in `return ['timeout' => 30];`, the content of a configuration file
        (
            r"string_content<string(?:<array_element_initializer<array_creation_expression)+"
            r"<return_statement<program",
            OBJECT_KEY,
        ),
    ),
    "python": (
        (r"identifier:alias<aliased_import(?::\w+)?<import_from_statement", "alias"),
        (r"identifier:attribute<attribute:left<assignment", "attribute"),
        (r"string_content<string<argument_list:arguments<call", "attribute"),
        # `if name == "limit":` in the function `__getattr__` of a module
        (
            r"string_content<string<comparison_operator:condition<if_statement<block:body"
            r"<function_definition<module",
            "attribute",
        ),
        (
            r"identifier(?:<(?:pattern_list|tuple_pattern))?:left<assignment(?::right<assignment)*"
            r"<expression_statement(?:<(?:block|with_statement|(?:if|for|while|try)_statement"
            r"|(?:elif|else|except|finally)_clause)(?::\w+)?)*<(?:module|block:body<class_definition)",
            "variable",
        ),
    ),
    "ruby": (
        (r"(?:simple_symbol|string_content<string)<argument_list:arguments<call", "method"),
        (r"constant(?:<left_assignment_list)?:left<(?:operator_)?assignment", "constant"),
        # `Shop::Config = 1`
        (r"constant:name<scope_resolution:left<(?:operator_)?assignment", "constant"),
        (r"identifier:name<(?:setter:name<method|alias)", "method"),
        (r"class_variable:left<assignment", "variable"),
    ),
    "rust": (
        (r"field_identifier:name<field_declaration", "field"),
        (r"\w*identifier:alias<use_as_clause", "alias"),
    ),
    "scala": (
        (r"identifier:name<class_parameter", "field"),
        (r"identifier:name<va[lr]_declaration<template_body", "variable"),
        (
            r"identifier(?:<(?:identifiers|tuple_pattern))?:pattern<va[lr]_definition"
            r"<(?:template_body|compilation_unit)",
            "variable",
        ),
    ),
    "sql": (
        (r"(?:identifier|literal):name<column_definition", "column"),
        (r"identifier:alias<term<select_expression<select<create_query<create_", "column"),
    ),
    "swift": (
        (r"type_identifier:name<associatedtype_declaration", "type"),
        (r"simple_identifier:bound_identifier<pattern:name<protocol_property_decl", "property"),
        (r"simple_identifier<macro_declaration", "macro"),
        (r"simple_identifier<pattern<pattern:name<property_declaration<source_file", "variable"),
    ),
    "tsx": _KINDS_IN_TYPESCRIPT,
    "typescript": _KINDS_IN_TYPESCRIPT,
    "zig": (
        (r"identifier:name<container_field", "field"),
        (r"identifier<error_set_declaration", "error"),
    ),
}
_PATTERNS: Final = {
    language: tuple((re.compile(pattern), kind) for pattern, kind in kinds)
    for language, kinds in _KINDS.items()
}


def member_kind(tree: SourceTree, row: int, column: int, size: int) -> str:
    """Return the kind of the definition whose name is at a position; "" if there is none.

    The column and the size count bytes.
    """
    patterns = _PATTERNS.get(tree.language, ())
    if not patterns:
        return ""
    nodes = _ancestors(tree.node_at(row, column, size))
    if nodes[0].type in _TEXTS and nodes[0].end_byte - nodes[0].start_byte != size:
        return ""  # the string is a longer text
    types = "<".join(map(_describe, nodes))
    kind = next((kind for pattern, kind in patterns if pattern.match(types)), "")
    return kind if kind and _is_definition(tree, nodes) else ""


def _ancestors(node: Node | None) -> list[Node]:
    found: list[Node] = []
    while node is not None and len(found) < _MAX_ANCESTORS:
        found.append(node)
        node = node.parent
    return found


def _describe(node: Node) -> str:
    """Return the type of a node and, after a colon, the field of its parent that contains it."""
    parent = node.parent
    if parent is None or parent.child_count > _MAX_CHILDREN:
        return node.type
    at = next((at for at, child in enumerate(parent.children) if child == node), None)
    field = None if at is None else parent.field_name_for_child(at)
    return f"{node.type}:{field}" if field else node.type


def _is_definition(tree: SourceTree, nodes: list[Node]) -> bool:
    """Return whether nodes whose types look like a definition have the text of a definition."""
    name, parent = nodes[0], nodes[1]
    match tree.language:
        case "c" | "cpp":
            return name.type == "field_identifier" or _is_macro_field(tree, nodes)
        case "javascript" | "tsx" | "typescript":
            return _is_script_definition(tree, nodes)
        case "python":
            return _is_python_definition(tree, nodes)
        case "ruby":
            return _is_ruby_definition(tree, nodes)
        case "elixir":
            return _is_elixir_definition(tree, nodes)
        case "php":
            return _is_php_definition(tree, nodes)
        case "kotlin" if parent.type == "class_parameter":
            return re.match(r"(?:[\w@]+\s+)*va[lr]\b", tree.text(parent)) is not None
        case "bash" if parent.type == "concatenation":
            return tree.text(nodes[2]).startswith("alias ")
    return True


def _is_script_definition(tree: SourceTree, nodes: list[Node]) -> bool:
    parent = nodes[1]
    match parent.type:
        case "object_pattern" | "pair_pattern":
            # `const { name } = require("a")` imports a name that another file defines.
            declared = next(node for node in nodes if node.type == "variable_declarator")
            value = declared.child_by_field_name("value")
            return value is None or not _is_loaded(tree, value)
        case "member_expression":
            value = nodes[2].child_by_field_name("right")
            is_export = _EXPORTS.match(tree.data, parent.start_byte) is not None
            return is_export and value is not None and _is_loaded(tree, value)
        case "required_parameter" | "optional_parameter":
            return any(child.type in MAKES_FIELD for child in parent.children)
        case "pair" if nodes[3].type == "return_statement":
            method = nodes[5].child_by_field_name("name")
            return tree.has_markup and method is not None and tree.text(method) == "data"
        case "string" if nodes[2].type == "arguments":
            function = nodes[3].child_by_field_name("function")
            is_defined = function is not None and tree.text(function) == "Object.defineProperty"
            return is_defined and nodes[2].named_children[1] == parent
    calls = [node for node in nodes if node.type == "call_expression"]
    called = (call.child_by_field_name("function") for call in calls)
    return all(one is not None and _OBJECT_FUNCTIONS.search(tree.text(one)) for one in called)


def _is_python_definition(tree: SourceTree, nodes: list[Node]) -> bool:
    parent = nodes[1]
    match parent.type:
        case "attribute":
            owner = parent.child_by_field_name("object")
            return owner is not None and tree.text(owner) in ("self", "cls")
        case "string" if nodes[2].type == "comparison_operator":
            function = nodes[5].child_by_field_name("name")
            return function is not None and tree.text(function) == "__getattr__"
        case "string":
            return _SET_ATTRIBUTE.match(tree.data, nodes[3].start_byte) is not None and (
                nodes[2].named_children[1:2] == [parent]
            )
    return True


def _is_ruby_definition(tree: SourceTree, nodes: list[Node]) -> bool:
    name, parent = nodes[0], nodes[1]
    if parent.type == "alias":
        return parent.child_by_field_name("name") == name
    if parent.type not in ("argument_list", "string"):
        return True
    arguments, call = nodes[1:3] if parent.type == "argument_list" else nodes[2:4]
    method = call.child_by_field_name("method")
    word = tree.text(method) if method is not None else ""
    # An alias defines its first name. The second name already exists.
    first = not word.startswith("alias") or arguments.named_children[0] == name
    # `delegate :name, to: :owner, prefix: true` defines owner_name.
    is_renamed = word == "delegate" and _PREFIX.search(tree.text(arguments)) is not None
    return word in RUBY_METHODS and first and not is_renamed


def _is_elixir_definition(tree: SourceTree, nodes: list[Node]) -> bool:
    name, parent = nodes[0], nodes[1]
    if parent.type == "call":
        return tree.text(name) not in _ELIXIR_NOTES
    if parent.type == "pair" and _is_listed_function(tree, nodes):
        return True
    call = next(node for node in nodes if node.type == "call")
    return tree.text(call).startswith("defstruct")


def _is_php_definition(tree: SourceTree, nodes: list[Node]) -> bool:
    parent = nodes[1]
    if parent.type != "string":
        return True
    if nodes[2].type == "array_element_initializer":
        element = nodes[2]
        is_pair = any(child.type == "=>" for child in element.children)
        return is_pair and element.named_children[0] == parent
    return tree.text(nodes[4]).startswith("define")


def _is_loaded(tree: SourceTree, value: Node) -> bool:
    """Return whether a value of JavaScript is a module, or a part of one: `require("a").name`."""
    return _LOADED.match(tree.data, value.start_byte) is not None


def _is_macro_field(tree: SourceTree, nodes: list[Node]) -> bool:
    """Return whether a name in C or C++ denotes a field inside the argument of a macro."""
    at = next(at for at, node in enumerate(nodes) if node.type == "field_declaration_list")
    before = tree.data[nodes[at - 1].start_byte : nodes[0].start_byte]
    is_last = _AFTER_MACRO_FIELD.match(tree.data, nodes[0].end_byte) is not None
    return is_last and _BEFORE_MACRO_FIELD.match(before) is not None


def _is_listed_function(tree: SourceTree, nodes: list[Node]) -> bool:
    """Return whether a key and its number are the name and arity of a function of the module.

    In such a module, a macro uses `def unquote(name)` to define one function for each name in a
    list.
    """
    value = nodes[1].child_by_field_name("value")
    body = next((node for node in nodes if node.type == "do_block"), None)
    if value is None or value.type != "integer" or body is None:
        return False
    return _UNQUOTED.search(tree.data, body.start_byte, body.end_byte) is not None
