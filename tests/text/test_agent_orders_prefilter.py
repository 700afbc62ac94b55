"""The test of literals before a pattern never rejects a text in which the pattern matches."""

from __future__ import annotations

import re

import pytest

from rootle.text.agent_orders.prefilter import LiteralFilter, required_literals


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bignore (?:all |the )?rules?\b", "please ignore the rule"),
        (r"(?:send|post) \w{1,9} to", "post it to"),
        (r"(?:abc)?def", "def"),
        (r"(?:a|b.c)", "a"),
        (r"(?=never)\w+", "never"),
        (r"[xy]z{2,3}", "yzz"),
        (r"\d+", "7"),
    ],
)
def test_a_matching_text_is_never_rejected(pattern: str, text: str) -> None:
    assert re.search(pattern, text)
    assert LiteralFilter([pattern]).possible(text) == [0]


def test_a_text_without_the_literals_is_rejected() -> None:
    patterns = [r"ignore (?:all|the) rules", r"(?:send|post) \w+ to"]
    assert LiteralFilter(patterns).possible("post it to them") == [1]
    assert LiteralFilter(patterns).possible("a list of files") == []
    assert frozenset({"send ", "post "}) in required_literals(patterns[1])
