"""Distinguish the tests in a syntax tree from the other definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rootle.syntax.source_tree import SourceTree
from rootle.syntax.symbol_outline import Unit
from rootle.text.whole_names import line_numbers

# The head of a test: an attribute, or the keyword and the name that the test framework requires.
_TEST_HEAD: Final = re.compile(
    r"""@(?:\w+\.)*(?:\w*Test|TestFactory|TestTemplate|Property)\b(?!\w*\s*class)
    |\#\[\s*(?:\w+::)*(?:test|rstest|test_case|proptest|quickcheck|wasm_bindgen_test|bench|Test)\b
    |\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestCaseSource|TestMethod|DataTestMethod)\b
    |^[ \t]*(?:async[ ]+)?def[ ]+test
    |^[ \t]*func[ ]+(?:\([^)\n]*\)[ ]*)?(?:[Tt]est|Benchmark|Fuzz|Example)(?![a-z])\w*
    |\bfunction[ ]+(?:\w+[.:])?test\w*\(
    |\bvoid[ ]+test\w*\(
    |^[ \t]*(?:[fx]?it|test|specify|scenario|property|example)(?:\.\w+)*(?:\([^)\n]*\))?[ (]+["'`]
    |^[ \t]*(?:TYPED_|RC_GTEST_)?(?:TEST|TEST_[A-Z]+|SCENARIO|BOOST_AUTO_TEST_CASE)\(
    |^[ \t]*test[ ]+["\w]""",
    re.MULTILINE | re.VERBOSE,
)
# A test or a group of tests in busted is a call: `it("adds a line", function() … end)`.
_BUSTED: Final = re.compile(
    r"^([ \t]*)(?:context|describe|it|pending|spec|test)[ \t]*\([ \t]*[\"'\[]", re.MULTILINE
)
_MAX_HEAD: Final = 1_000  # characters of a definition that are searched


def find_tests(tree: SourceTree) -> Iterator[tuple[int, tuple[Unit, ...]]]:
    """Yield the row of each test, counted from 0, and its units, the outermost first.

    The row is the one that contains the name or the title of the test. A class of tests is not a
    test.
    """
    if tree.language == "lua":
        yield from _find_busted_tests(tree)
    stack: list[tuple[Unit, ...]] = [(unit,) for unit in reversed(tree.outline.root.members)]
    while stack:
        units = stack.pop()
        unit = units[-1]
        if _is_test(tree, unit):
            yield _name_row(unit), units
        else:
            stack += [(*units, member) for member in reversed(unit.members)]


def _find_busted_tests(tree: SourceTree) -> Iterator[tuple[int, tuple[Unit, ...]]]:
    """Yield the tests that are calls; they have no unit, because a call is not a definition.

    A group counts as a test if it contains no other test.
    """
    text = tree.lines.text
    found = list(_BUSTED.finditer(text))
    rows: list[tuple[int, int]] = []  # the first and the last row of each call
    for number, call in zip(line_numbers(text, map(re.Match.start, found)), found, strict=True):
        leaf = tree.node_at(number - 1, len(call[1]), 1)
        if leaf.type == "identifier" and leaf.parent is not None:  # not in a comment or a string
            rows.append((number - 1, leaf.parent.end_point[0]))
    for at, (first, last) in enumerate(rows):
        if at + 1 == len(rows) or rows[at + 1][0] > last:
            yield first, ()


def _is_test(tree: SourceTree, unit: Unit) -> bool:
    if unit.is_box:
        return False
    # The head ends with the line of the name, not with the first line of the node: the attributes
    # of a test are above its name, and in some grammars they are part of its node.
    end = tree.lines.starts[min(_name_row(unit) + 1, len(tree.lines.starts) - 1)]
    head = tree.lines.text[tree.lines.starts[unit.first] : end]
    return _TEST_HEAD.search(head[-_MAX_HEAD:]) is not None


def _name_row(unit: Unit) -> int:
    name = unit.node.child_by_field_name("name")
    return max(unit.row, name.start_point[0]) if name is not None else unit.row
