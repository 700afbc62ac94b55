"""The prose and the identifiers of the repository, for the tests of its language."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from syntax_trees import syntax_tree
from tree_sitter import Parser, Query, QueryCursor

from rootle.syntax.grammars import load_grammar

TOP = Path(__file__).resolve().parent.parent
CODE = ("src", "tests", "benchmarks", "training", "docs", "examples")
# These files contain the words that they forbid.
RULES = ("tests/test_language.py", "tests/test_names.py")
# Decorators of functions that may be named and documented as nouns.
NOUNS = ("property", "fixture", "overload", "pytest.fixture", "composite", "setter")


class Finding(NamedTuple):
    where: str  # path and line
    found: str
    remedy: str


class Comment(NamedTuple):
    line: int
    text: str


@cache
def words_of(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name))


@cache
def tracked_files() -> tuple[Path, ...]:
    # The working tree rather than the last commit: a new file is checked before it is committed.
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        capture_output=True,
        check=True,
    ).stdout
    rules = {TOP / name for name in RULES}
    paths = (TOP / name for name in listing.decode().split("\0") if name)
    found = tuple(path for path in paths if path.is_file() and path not in rules)
    assert len(found) > 400
    return found


@cache
def sources() -> Mapping[str, str]:
    """Map the path of every Python file, from the top of the repository, to its text."""
    return {
        path.relative_to(TOP).as_posix(): path.read_text(encoding="utf-8")
        for path in tracked_files()
        if path.suffix == ".py" and path.relative_to(TOP).parts[0] in CODE
    }


@cache
def nodes() -> Mapping[str, Sequence[ast.AST]]:
    """Return the nodes of the syntax tree of every Python file."""
    return {path: walk(syntax_tree(TOP / path)) for path in sources()}


def walk(tree: ast.AST) -> Sequence[ast.AST]:
    """Return a node and its descendants, except contexts such as `ast.Load`.

    A third of the nodes from `ast.walk` are contexts, and its generators are slower than this loop.
    """
    found = [tree]
    for node in found:  # the loop also visits the nodes that it adds
        for name in node._fields:
            value = None if name == "ctx" else getattr(node, name, None)
            if isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


@cache
def prose() -> tuple[tuple[str, int, str], ...]:
    """Return path, line number and text of every docstring, comment, message and page."""
    return tuple(
        (path, line, text)
        for group in (pages(), comments(), strings())
        for path, line, text in group
        if text.strip()
    )


def pages() -> Iterator[tuple[str, int, str]]:
    for path in tracked_files():
        if path.suffix == ".md" or path.name == "Makefile":
            text = path.read_text(encoding="utf-8")
            # Drop the commands and output in code blocks, and keep line breaks for the line
            # numbers.
            plain = re.sub(
                r"```.*?```", lambda match: "\n" * match.group().count("\n"), text, flags=re.S
            )
            yield path.relative_to(TOP).as_posix(), 1, plain


def comments() -> Iterator[tuple[str, int, str]]:
    """Yield each run of comment lines as one text."""
    # Python's own tokenizer is three times slower.
    grammar = load_grammar("python").language
    comment_nodes = Query(grammar, "(comment) @comment")
    for path, source in sources().items():
        tree = Parser(grammar).parse(source.encode())
        found = QueryCursor(comment_nodes).captures(tree.root_node).get("comment", [])
        run: list[Comment] = []
        for node in sorted(found, key=lambda node: node.start_byte):
            comment = Comment(node.start_point[0] + 1, (node.text or b"").decode().lstrip("# "))
            if run and comment.line != run[-1].line + 1:
                yield path, run[0].line, "\n".join(item.text for item in run)
                run = []
            run.append(comment)
        if run:
            yield path, run[0].line, "\n".join(item.text for item in run)


def strings() -> Iterator[tuple[str, int, str]]:
    """Yield all docstrings and, outside of the tests, all other strings that can be prose."""
    for path, own in nodes().items():
        docstrings = {
            id(node.body[0].value)
            for node in own
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in own:
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            is_prose = " " in node.value and not is_pattern(node.value)
            if id(node) in docstrings or (is_prose and not path.startswith("tests/")):
                yield path, node.lineno, node.value


def is_pattern(text: str) -> bool:
    """Return whether a text is a regular expression or a part of one."""
    return re.search(r"\(\?[:=!<P]|\\[bswdB]", text) is not None or text.count("|") > 2


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, own in nodes().items():
        for node in own:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def is_named_as_a_noun(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a decorator turns a function into a value, such as a property."""
    decorators = [ast.unparse(item) for item in node.decorator_list]
    return any(noun in decorator for noun in NOUNS for decorator in decorators)


def identifiers() -> Iterator[tuple[str, int, str]]:
    """Yield path, line and name of everything that the code defines, files included."""
    for path, own in nodes().items():
        yield path, 1, Path(path).stem
        for node in own:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield path, node.lineno, node.name
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield path, node.lineno, node.id
            elif isinstance(node, ast.arg):
                yield path, node.lineno, node.arg
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield path, node.lineno, node.attr


def explain(wrong: list[Finding]) -> str:
    lines = [f"  {item.where}: {item.found!r}: {item.remedy}" for item in wrong]
    return "\n".join([f"{len(wrong)} findings", *lines])
