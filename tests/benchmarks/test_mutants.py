"""The faults of the mutation check: each changes one expression and no other line."""

from __future__ import annotations

import ast

import pytest
from benchmarks.mutation.mutants import Mutant, list_mutants

SOURCE = '''\
LIMIT = 10


def choose(values: list[int], limit: int = 3) -> list[int]:
    """Return the first values."""
    if not values:
        return []
    elif limit < 0:
        return values
    kept = [value for value in values if value > 0 and value != 7]
    kept.sort()
    return kept[: limit + 1]
'''


def faults(kind: str) -> list[Mutant]:
    return [mutant for mutant in list_mutants(SOURCE) if mutant.kind == kind]


@pytest.mark.parametrize(
    ("kind", "line", "text"),
    [
        ("change the constant", 1, "LIMIT = 11"),
        ("negate the condition", 6, "if not not values:"),
        ("drop not", 6, "if values:"),
        ("swap and/or", 10, "value > 0 or value != 7"),
        ("change the comparison", 10, "value >= 0 and value != 7"),
        ("drop the call", 11, "    pass"),
        ("change the operator", 12, "kept[:limit - 1]"),
    ],
)
def test_a_fault_changes_its_line(kind: str, line: int, text: str) -> None:
    made = [mutant for mutant in faults(kind) if mutant.line == line]
    assert made
    assert text in made[0].apply(SOURCE)


def test_every_fault_is_valid_source_that_differs_only_in_its_statement() -> None:
    made = list_mutants(SOURCE)
    assert len(made) >= 8
    for mutant in made:
        changed = mutant.apply(SOURCE)
        assert ast.unparse(ast.parse(changed)) != ast.unparse(ast.parse(SOURCE))
        assert changed.split("\n")[: mutant.first - 1] == SOURCE.split("\n")[: mutant.first - 1]


def test_docstrings_defaults_and_annotations_are_not_changed() -> None:
    assert 4 not in {mutant.line for mutant in list_mutants(SOURCE)}
    assert 5 not in {mutant.line for mutant in list_mutants(SOURCE)}
