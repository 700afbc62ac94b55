"""Lines that import names from other files."""

from __future__ import annotations

import pytest

from rootle.tools.excerpts.matched_words import find_import_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import os\nfrom a.b import (\n    c,\n)\nX = 1\n", {1, 2, 3, 4}),
        ("import {\n  A,\n} from './a'\nimport b from 'b'\nexport {A}\n", {1, 2, 3, 4}),
        ('package a\n\nimport (\n\t"fmt"\n)\n\nfunc run() {\n', {3, 4, 5}),
        ("use std::{\n    fmt,\n};\nuse crate::a::B;\nfn use_it() {\n", {1, 2, 3, 4}),
        ("#include <a.h>\nint include(int a) {\n}\n", {1}),
        ("const { a, b } = require('a')\nconst c = required(a)\n", {1}),
        ("def run():\n    import os\n    return importance(os)\n", set()),
        ("imported = 1\nuses = 2\nusing_it(1)\n", set()),
    ],
)
def test_imports_that_are_not_indented_are_found(text: str, expected: set[int]) -> None:
    assert find_import_lines(text.split("\n")) == expected


def test_an_import_that_is_never_closed_ends_after_some_lines() -> None:
    assert len(find_import_lines(["import {", *["a,"] * 10_000])) < 1_000
