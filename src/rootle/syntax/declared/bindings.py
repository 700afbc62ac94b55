"""Find what the code says about the type of a variable, a field or a function.

The grammars use similar names for similar nodes, so one table of declarations is enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree

# The fields of a declaration that contain the name, in nodes that declare a variable or a field.
_DECLARED_FIELDS: Final = {
    **dict.fromkeys(
        """parameter_declaration variadic_parameter_declaration var_spec const_spec
        formal_parameter catch_formal_parameter resource variable_declarator enhanced_for_statement
        property_declaration declaration_pattern declaration_expression public_field_definition
        property_signature typed_default_parameter default_parameter named_expression
        simple_parameter property_promotion_parameter property_element catch_declaration
        field_declaration""".split(),
        ("name",),
    ),
    **dict.fromkeys(
        """short_var_declaration range_clause foreach_statement for_in_statement
        assignment_expression assignment for_statement receive_statement""".split(),
        ("left",),
    ),
    **dict.fromkeys(
        """required_parameter optional_parameter let_declaration for_expression let_condition
        match_arm""".split(),
        ("pattern",),
    ),
    "parameter": ("name", "pattern"),
    "field_definition": ("property",),
    "type_switch_statement": ("alias",),
    "arrow_function": ("parameter",),
    "lambda_expression": ("parameters",),
}
# In these nodes, the name is the first child that is an identifier.
_FIRST_CHILD: Final = frozenset(
    "variable_declaration class_parameter parameter typed_parameter".split()
)
_TYPE_FIELDS: Final = ("type", "result", "return_type", "returns")
_VALUE_FIELDS: Final = ("value", "right")
_KOTLIN_TYPES: Final = frozenset({"user_type", "nullable_type"})
_FUNCTION: Final = re.compile(
    r"(?:function|method|local_function|abstract_method|function_signature)_"
    r"(?:declaration|definition|item|signature|elem|statement)|function_signature_item"
)
# Loops, which assign each element of a value to the names that they declare.
_LOOPS: Final = frozenset(
    """range_clause enhanced_for_statement foreach_statement for_in_statement for_statement
    for_expression""".split()
)
# Nodes around a name that is declared.
_AROUND: Final = frozenset("variable_name mut_pattern ref_pattern reference_pattern".split())
# Nodes that declare names whose types are not read.
_UNREAD: Final = frozenset(
    """parameters inferred_parameters lambda_parameters closure_parameters implicit_parameter
    pattern_list tuple_pattern list_pattern object_pattern array_pattern pair_pattern
    tuple_struct_pattern struct_pattern field_pattern as_pattern_target type_pattern
    captured_pattern record_pattern_component list_splat_pattern dictionary_splat_pattern
    rest_pattern shorthand_field_initializer parenthesized_variable_designation slice_pattern
    multi_variable_declaration bind_pattern""".split()
)
_UNTYPED: Final = frozenset(
    "type_switch_statement arrow_function lambda_expression match_arm let_condition".split()
)
_SELECTORS: Final = frozenset({"attribute", "member_expression", "member_access_expression"})
_OWN: Final = frozenset({"self", "this", "$this", "cls"})
_SCOPE: Final = re.compile(
    r"\w*block|\w*_body|compound_statement|declaration_list|field_declaration_list"
    r"|(?:\w+_)?(?:function|method|constructor|accessor)_(?:declaration|definition|item|expression)"
    r"|func_literal|arrow_function|lambda|lambda_expression|lambda_literal|closure_expression"
    r"|anonymous_method_expression|anonymous_function\w*"
    r"|method_elem|method_signature|function_signature\w*"
    r"|for\w*_statement|for_expression|enhanced_for_statement|if_statement|if_expression"
    r"|switch\w*|\w*_case|case_clause|catch_clause|catch_block|match_arm|try_with_resources_statement"
    r"|using_statement|while_statement|while_expression|interface_type|object_type"
    r"|class_declaration|record_declaration|struct_declaration|class_definition"
    r"|program|module|source_file|compilation_unit|expression_case|type_case|communication_case"
)
_PYTHON_SCOPE: Final = re.compile(
    r"function_definition|class_definition|lambda|module|\w+_comprehension|generator_expression"
)
CLASS_SCOPES: Final = frozenset(
    """class_body enum_class_body declaration_list field_declaration_list interface_body
    interface_type object_type class_definition class_declaration record_declaration
    struct_declaration enum_body enum_body_declarations annotation_type_body""".split()
)


@dataclass(frozen=True, slots=True)
class Binding:
    """A declaration of a name, or an assignment to it.

    If `type` and `value` are empty, the code does not say the type.
    """

    scope: Node  # the smallest node in which a variable with this name is visible
    node: Node  # the declaration
    is_member: bool = False  # of a class, an interface or a struct
    is_own: bool = False  # the name is assigned with a receiver, as in `self.name = value`
    is_function: bool = False  # then `type` is the type of its result
    type: str = ""
    value: str = ""  # the expression that gives the name its value
    is_element: bool = False  # the name gets each element of `value`
    index: int = 0  # the position of the name on the left side of an assignment in Go, from 0


def binding_at(tree: SourceTree, leaf: Node) -> Binding | None:
    """Return what the code says about a name, or None if this place does not declare it."""
    node, index, is_own = leaf, 0, False
    while (parent := node.parent) is not None:
        if parent.type in _AROUND:
            node = parent
        elif parent.type == "expression_list" and tree.language == "go":
            index, node = parent.named_children.index(node), parent
        elif parent.type in _SELECTORS and not is_own and _is_own_member(tree, parent, node):
            node, is_own = parent, True
        else:
            break
    if parent is None or (node.type in _SELECTORS and not is_own):
        return None
    if _FUNCTION.fullmatch(parent.type):
        return _read_function(tree, parent, node)
    if not _declares(tree, parent, node):
        is_unread = parent.type in _UNREAD and tree.language != "ruby"
        return Binding(find_scope(tree, parent), parent) if is_unread else None
    return _read_variable(tree, parent, node, index, is_own=is_own)


def underlying_type(tree: SourceTree, declaration: Node) -> str:
    """Return the type for which a declaration in Go or TypeScript introduces a name.

    Examples are `type Jobs []*Job` and `type Jobs = Job[]`. Return "" for a class or struct.
    """
    specs = [one for one in declaration.named_children if one.type == "type_spec"]
    spec = specs[0] if len(specs) == 1 else declaration
    if spec.type not in ("type_spec", "type_alias_declaration"):
        return ""
    kind = spec.child_by_field_name("type") or spec.child_by_field_name("value")
    is_new = kind is None or kind.type in ("struct_type", "interface_type", "object_type")
    return "" if kind is None or is_new else tree.text(kind)


def _declares(tree: SourceTree, parent: Node, node: Node) -> bool:
    fields = _DECLARED_FIELDS.get(parent.type, ())
    if any(node in parent.children_by_field_name(name) for name in fields):
        return True
    if parent.type == "foreach_statement" and tree.language == "php":
        return parent.named_children[-2:-1] == [node] or node in parent.named_children[1:2]
    if parent.type not in _FIRST_CHILD:
        return False
    first = next((one for one in parent.named_children if one.type == "identifier"), None)
    return first == node


def _is_own_member(tree: SourceTree, parent: Node, node: Node) -> bool:
    owner = parent.child_by_field_name("object") or parent.child_by_field_name("expression")
    if owner is None:
        return tree.data.startswith(b"this.", parent.start_byte)
    return owner != node and tree.text(owner) in _OWN


def _read_function(tree: SourceTree, function: Node, name: Node) -> Binding | None:
    if function.child_by_field_name("name") != name:
        return None
    around = function.parent or function
    scope = find_scope(tree, around)
    is_member = scope.type in CLASS_SCOPES or function.type == "method_declaration"
    return Binding(scope, function, is_member, is_function=True, type=_written_type(tree, function))


def _read_variable(
    tree: SourceTree, parent: Node, node: Node, index: int, *, is_own: bool
) -> Binding:
    holder = parent
    if parent.type in ("variable_declarator", "property_element", "variable_declaration"):
        outer = parent.parent
        if outer is not None and (outer.type != "lambda_parameters"):
            holder = outer
    scope = find_scope(tree, parent)
    is_member = is_own or _is_member(tree, scope, parent)
    binding = Binding(scope, parent, is_member, is_own, index=index)
    if parent.type in _UNTYPED or holder.type == "lambda_parameters":
        return binding
    written = _written_type(tree, parent) or _written_type(tree, holder)
    if parent.type == "variadic_parameter_declaration":
        written = f"[]{written}"
    if written in ("var", "let", "auto"):
        written = ""
    if written:
        return replace(binding, type=written)
    value = _find_value(tree, parent, node) or _find_value(tree, holder, parent)
    if value is not None and value.type in ("arrow_function", "function_expression"):
        return replace(binding, is_function=True, type=_written_type(tree, value))
    is_element = parent.type in _LOOPS or holder.type in _LOOPS
    text = tree.text(value) if value is not None else ""
    if value is not None and value.type == "expression_list" and value.named_child_count > 1:
        children = value.named_children
        text = tree.text(children[index]) if index < len(children) else ""
        binding = replace(binding, index=0)
    return replace(binding, value=text, is_element=is_element)


def _written_type(tree: SourceTree, node: Node) -> str:
    for name in _TYPE_FIELDS:
        found = node.child_by_field_name(name)
        if found is not None and not (name == "type" and found.type == "implicit_type"):
            return tree.text(found).lstrip(":").strip()
    if tree.language == "kotlin":
        found = next((one for one in node.named_children if one.type in _KOTLIN_TYPES), None)
        return tree.text(found) if found is not None else ""
    if node.type == "typed_parameter":
        return tree.text(node.named_children[-1])
    return ""


def _find_value(tree: SourceTree, holder: Node, name: Node) -> Node | None:
    for field in _VALUE_FIELDS:
        found = holder.child_by_field_name(field)
        if found is not None:
            return found if found.start_byte >= name.end_byte else None
    if tree.language == "php" and holder.type == "foreach_statement":
        return holder.named_children[0]
    if tree.language in ("kotlin", "csharp") and name.parent == holder:
        after = [one for one in holder.named_children if one.start_byte >= name.end_byte]
        return after[0] if after else None
    return None


def _is_member(tree: SourceTree, scope: Node, declaration: Node) -> bool:
    if declaration.type in ("class_parameter", "property_promotion_parameter"):
        return True
    if declaration.type in ("required_parameter", "optional_parameter"):
        return any(
            one.type in ("accessibility_modifier", "readonly") for one in declaration.children
        )
    if tree.language == "python" and scope.type == "class_definition":
        return True
    return scope.type in CLASS_SCOPES


def find_scope(tree: SourceTree, node: Node) -> Node:
    """Return the node if it is a block, function, class or file, else the smallest one around it.

    In Python, blocks do not count.
    """
    pattern = _PYTHON_SCOPE if tree.language == "python" else _SCOPE
    while (parent := node.parent) is not None and not pattern.fullmatch(node.type):
        node = parent
    return node
