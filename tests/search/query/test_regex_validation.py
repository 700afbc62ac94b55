"""Validation of regular expressions in questions."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.errors import QueryError
from rootle.search.query.regex_validation import (
    check_pattern,
    compile_pattern,
    find_literals,
    max_line_chars,
)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b", r"(a*)*", r"(\w+\s*)*x", r"(a|aa)+$", r"(a|a?)+", r"((ab)*c?)*", r"(.*a){12}",
        r"(\d+|\w+)+x", r".*a.*b.*c.*d.*e", r"(?:a{2,}){3,}", r"(?=(a+)+)x", r"(a+){10,}",
        r"((a?){9}){9}b", "a?" * 20 + "a" * 20, r"(a{1,9}){9}b", r"(x)?(?(1)(a+)+|b)c",
    ],
)  # fmt: skip
def test_a_pattern_that_could_take_too_long_is_rejected(pattern: str) -> None:
    with pytest.raises(QueryError, match="too long"):
        check_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"def \w+_backoff", r"(foo|bar)+\d", r"^import (os|sys)$", r"(ab){2,5}", r"[A-Z]{3,}_\w+",
        r"a.*b.*c", r"(?:https?://)?example\.com", r"x{2}(y+z)?", r"class (\w+)\(\1\)",
        r"(\d{1,3}\.){3}\d{1,3}", r"colou?rs?", r"([0-9a-f]{2}:)+",
    ],
)  # fmt: skip
def test_common_patterns_are_accepted(pattern: str) -> None:
    check_pattern(pattern)


@settings(deadline=None)
@given(st.text("ab()|*+?{2,}[]^$.\\w", max_size=12))
def test_every_accepted_pattern_terminates(pattern: str) -> None:
    try:
        check_pattern(pattern)
    except QueryError:
        return
    started = time.process_time()
    compile_pattern(pattern).search(("a" * 1_000 + "!")[: max_line_chars(pattern)])
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "pattern", [r"\w*\w*\w*\w*!", r"\w+\w+\w+!", r"\w+\w+!", r"(a?){9}(a?){7}b"]
)
def test_patterns_with_more_repetitions_search_fewer_characters_of_a_line(pattern: str) -> None:
    check_pattern(pattern)
    assert max_line_chars(pattern) < max_line_chars("a+") == 1_000


@given(st.text("ab_()|*+?{2,}[]^$. \\w", max_size=12), st.text("ab_ ", max_size=12))
def test_every_match_contains_the_literals(pattern: str, text: str) -> None:
    try:
        check_pattern(pattern)
    except QueryError:
        return
    match = compile_pattern(pattern).search(text)
    if match:
        assert all(literal.lower() in match.group().lower() for literal in find_literals(pattern))


def test_the_literals_of_a_pattern_are_its_required_words() -> None:
    assert find_literals(r"def \w+_backoff\(") == ("def", "_backoff")
    assert find_literals(r"(retry|again) policy") == ("policy",)
    assert find_literals(r"colou?r") == ("colo",)
    assert find_literals(r"\d+") == ()


def test_a_capital_letter_makes_a_pattern_case_sensitive() -> None:
    assert compile_pattern("retry").search("RETRY")
    assert not compile_pattern("Retry").search("retry")
    assert compile_pattern(r"\Sretry").search("xRETRY")


def test_a_very_long_pattern_is_rejected() -> None:
    with pytest.raises(QueryError, match="500"):
        check_pattern("a" * 501)
