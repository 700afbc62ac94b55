"""Each function of `src/rootle` exists once: two modules that need it share it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest
from syntax_trees import syntax_tree

import rootle

_SRC = Path(rootle.__file__).parent
# A shorter body, such as that of a constructor with two assignments, may occur twice.
_MIN_NODES = 30


@pytest.mark.slow
def test_no_two_functions_have_the_same_body() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(_SRC.rglob("*.py")):
        for node in ast.walk(syntax_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                if sum(1 for one in body for _ in ast.walk(one)) >= _MIN_NODES:
                    place = f"{path.relative_to(_SRC)}:{node.lineno} {node.name}"
                    places[ast.dump(ast.Module(body, []))].append(place)
    assert len(places) > 2_000
    assert [found for found in places.values() if len(found) > 1] == []
