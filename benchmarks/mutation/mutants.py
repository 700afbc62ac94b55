"""Small faults in Python source: a changed operator, constant or condition, or a dropped call."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: the lines that it replaces, and their replacement."""

    line: int  # 1-based, of the changed expression
    first: int  # 1-based, of the statement that is replaced
    last: int  # its last line, inclusive
    kind: str
    before: str
    after: str

    def apply(self, source: str) -> str:
        """Return the source with this fault; the other lines do not change."""
        lines = source.split("\n")
        indent = lines[self.first - 1][: -len(lines[self.first - 1].lstrip()) or None]
        changed = [indent + line for line in self.after.split("\n")]
        return "\n".join([*lines[: self.first - 1], *changed, *lines[self.last :]])


def list_mutants(source: str) -> list[Mutant]:
    """Return every fault that this module can make in a source text, in line order.

    Annotations, docstrings, imports and class-level statements are left unchanged; at module level,
    only assignments and expressions are changed.
    """
    found = []
    for statement, is_in_function in _statements(ast.parse(source)):
        for at, (kind, node) in enumerate(_places(statement, is_in_function=is_in_function)):
            changed = copy.deepcopy(statement)
            _, target = list(_places(changed, is_in_function=is_in_function))[at]
            changed = _mutate(changed, kind, target)
            before, after = ast.unparse(statement), ast.unparse(changed)
            if before != after:
                last = statement.end_lineno or statement.lineno
                line = getattr(node, "lineno", statement.lineno)
                found.append(Mutant(line, statement.lineno, last, kind, before, after))
    return sorted(found, key=lambda mutant: (mutant.line, mutant.kind))


def _statements(tree: ast.Module) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield each statement that can be changed, and whether it is inside a function."""

    def walk(node: ast.AST, *, is_in_function: bool) -> Iterator[tuple[ast.stmt, bool]]:
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        inside = is_in_function or is_function
        for child in ast.iter_child_nodes(node):
            if isinstance(
                child, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr
            ):
                if inside or isinstance(node, ast.Module):
                    yield child, inside
            elif isinstance(child, ast.If | ast.While) and inside and _is_not_elif(child, tree):
                yield child, inside
                yield from walk(child, is_in_function=inside)
            elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                yield from walk(child, is_in_function=inside)

    return walk(tree, is_in_function=False)


def _is_not_elif(node: ast.If | ast.While, tree: ast.Module) -> bool:
    """Return whether a statement is not an `elif`, which cannot be replaced on its own."""
    return not any(
        isinstance(other, ast.If)
        and other.orelse[:1] == [node]
        and other.col_offset == node.col_offset
        for other in ast.walk(tree)
    )


def _places(statement: ast.stmt, *, is_in_function: bool) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kind and the node of each possible fault in a statement, in a stable order."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return  # a docstring
    if isinstance(statement, ast.If | ast.While):
        yield "negate the condition", statement
        roots: list[ast.AST] = [statement.test]
    elif isinstance(statement, ast.AnnAssign):
        roots = [statement.value] if statement.value is not None else []
    else:
        roots = [statement]
    if isinstance(statement, ast.Expr) and is_in_function and isinstance(statement.value, ast.Call):
        yield "drop the call", statement
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
                yield "change the comparison", node
            elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
                yield "change the operator", node
            elif isinstance(node, ast.BoolOp):
                yield "swap and/or", node
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                yield "drop not", node
            elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
                yield "change the constant", node


def _mutate(statement: ast.stmt, kind: str, node: ast.AST) -> ast.stmt:
    if kind == "drop the call":
        return ast.Pass()
    if kind == "negate the condition" and isinstance(node, ast.If | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Compare):
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp):
        return _replace(statement, node, node.operand)
    elif isinstance(node, ast.Constant):
        node.value = (not node.value) if isinstance(node.value, bool) else _next(node.value)
    return statement


def _next(value: object) -> float | int:
    assert isinstance(value, int | float)
    return value + 1


def _replace(statement: ast.stmt, old: ast.AST, new: ast.expr) -> ast.stmt:
    class Replacer(ast.NodeTransformer):
        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    replaced = Replacer().visit(statement)
    assert isinstance(replaced, ast.stmt)
    return replaced
