"""The signature of a definition."""

from __future__ import annotations

import pytest

from rootle.text.definition_head import find_signature


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("static void\nshow(buf_T *buf,\n    char_u *name)\n{\n}\n", (1, 3)),
        ("// Shows it.\nint\nmain(void) {\n}\n", (2, 3)),
        ("def first\n  second(1)\nend\n", (1, 1)),
        ("def f(a,\n      b):\n    x(1)\n", (1, 2)),
        ("class A:\n    def x(self): pass\n", (1, 1)),
    ],
)
def test_a_signature_contains_the_name_even_below_the_return_type(
    text: str, signature: tuple[int, int]
) -> None:
    lines = text.split("\n")
    assert find_signature(lines, (1, len(lines))) == signature
