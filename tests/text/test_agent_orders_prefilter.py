"""The search for literals before a pattern never rejects a text that the pattern matches."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rootle.text.agent_orders.address_patterns import ADDRESS_SIGNS
from rootle.text.agent_orders.answer_patterns import ANSWER_SIGNS
from rootle.text.agent_orders.detector import match_signs, normalize
from rootle.text.agent_orders.order_patterns import ORDER_SIGNS
from rootle.text.agent_orders.prefilter import LiteralFilter
from rootle.text.agent_orders.translated_patterns import TRANSLATED_SIGNS

ATTACKS = Path(__file__).parents[2] / "benchmarks/labels/agent_orders"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bignore (?:all |the )?rules?\b", "please ignore the rule"),
        (r"(?:send|post) \w{1,9} to", "post it to"),
        (r"(?:abc)?def", "def"),
        (r"(?:a|b.c)", "a"),
        (r"(?=never)\w+", "never"),
        (r"tell (?!me)\w+", "tell them"),
        (r"[xy]z{2,3}", "yzz"),
        (r"\d+", "7"),
        (r"\d\d", "\u0664\u0662"),
        (r"\bключ\b", "мой ключ"),
        (r"run\W\w", "run é"),
        (r"send", "\ud800 send"),
        (r"send\x00it", "send\x00it"),
        (r"(?i)kind", "\u212aind"),
        (r"ab{,2}c", "abbc"),
    ],
)
def test_a_matching_text_is_never_rejected(pattern: str, text: str) -> None:
    assert re.search(pattern, text)
    assert LiteralFilter([pattern]).possible(text) == [0]


def test_a_text_without_the_literals_is_rejected() -> None:
    patterns = [r"ignore (?:all|the) rules", r"(?:send|post) \w+ to"]
    assert LiteralFilter(patterns).possible("post it to them") == [1]
    assert LiteralFilter(patterns).possible("post it") == []
    assert LiteralFilter(patterns).possible("a list of files") == []


@pytest.mark.slow
def test_the_filter_loses_no_sign_of_known_attacks() -> None:
    lines = (ATTACKS / "authors_development.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [normalize(json.loads(line)["text"]) for line in lines]
    signs = (*ADDRESS_SIGNS, *ORDER_SIGNS, *ANSWER_SIGNS, *TRANSLATED_SIGNS)
    for text in texts:
        expected = sorted(
            (match.start(), match.end(), sign.group, sign.weight)
            for sign in signs
            for match in sign.regex.compiled.finditer(text)
        )
        assert match_signs(text) == expected
    assert sum(len(match_signs(text)) for text in texts) > len(texts) // 2
