"""Questions for the assignments of a certain value to a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle.search.symbols.uses.assigned_value import assigns_value
from rootle.tools import search_folder
from rootle.types import SymbolUse

FILES = {
    "src/cart.ts": (
        "export class Cart {\n  activeItem: Item | null = null\n"
        "  open(item) {\n    this.activeItem = item\n  }\n"
        "  close() {\n    this.activeItem = null\n  }\n"
        "  fail() {\n    this.activeItem = Item.OPEN_FAILED\n  }\n}\n"
    ),
    "src/other.ts": "export const other = (cart) => cart.items\n",
}


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("what sets activeItem to null", [7, 4, 10]),
        ("where is activeItem set to None?", [7, 4, 10]),
        ("what sets activeItem to failed", [10, 4, 7]),
        ("what sets activeItem", [4, 7, 10]),
    ],
)
def test_the_assignments_of_the_value_come_first(
    question: str, lines: list[int], tmp_path: Path, make_app: MakeApp
) -> None:
    write_tree(tmp_path / "p", FILES)
    symbols = make_app(tmp_path / "p").search(question).symbols
    assert symbols is not None
    assert [use.line for use in symbols.uses] == lines


def test_an_answer_says_that_no_line_has_the_value(tmp_path: Path, make_app: MakeApp) -> None:
    write_tree(tmp_path / "p", FILES)
    search = search_folder(make_app(tmp_path / "p"))
    note = "no line that sets activeItem contains 7"
    assert note in search("what sets activeItem to 7")
    assert "contains" not in search("what sets activeItem to null")


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("size = 10", "1", False),
        ("size = 10;", "10", True),
        ("size = 0.5", "5", False),
        ("null_size = size", "null", False),
        ("isOpen: True,", "true", True),
        ("c.phase = common.OperationFailed", "Failed", True),
    ],
)
def test_a_value_is_compared_with_the_text_after_the_name(
    text: str, value: str, expected: bool
) -> None:
    name = text.replace(":", " ").split()[0].rpartition(".")[2]
    use = SymbolUse("a.py", 1, "assignment", "", text, is_test=False)
    assert assigns_value(use, name, value) == expected
