"""Regular expressions in questions are parsed or rejected with advice."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootle.errors import QueryError
from rootle.search.query.regex_matching import LineRegex
from rootle.search.query.regex_parsing import find_literals


@pytest.mark.parametrize(
    ("pattern", "construct", "remedy"),
    [
        (r"class (\w+)\(\1\)", r"a backreference such as \1", "repeat the part"),
        (r"(?P<a>x)(?P=a)", "a backreference", "repeat the part"),
        (r"(a)?(?(1)b|c)", "a condition (?(1)…)", "each variant"),
        (r"foo(?=bar)", "a lookahead (?=…)", "match the text itself"),
        (r"(?<=foo)bar", "lookbehind (?<=…)", "match the text itself"),
        (r"foo(?!bar)", "a negative lookahead (?!…)", "exclude lines"),
        (r"(?<!foo)bar", "lookbehind (?<!…)", "exclude lines"),
        (r"a(?!)", "a negative lookahead", "match the text"),
        (r"(?>a+)b", "an atomic group (?>…)", "use (?:…)"),
        (r"a++b", "a possessive repetition such as a++", "remove the second +"),
        (r"(?a)\w", "the flag (?a)", "[0-9]"),
    ],
)
def test_an_unsupported_construct_is_named_with_a_remedy(
    pattern: str, construct: str, remedy: str
) -> None:
    with pytest.raises(QueryError) as error:
        LineRegex(pattern)
    for part in (f'"{pattern}"', construct, remedy):
        assert part in str(error.value)


@pytest.mark.parametrize(
    "pattern", [r"a{1001}", r"(?:a{100}){11}", r".{1000}" * 11, r"(?:\w{1,100}[a-f]{1,9}){1,9}" * 9]
)
def test_a_pattern_that_is_too_large_is_rejected(pattern: str) -> None:
    with pytest.raises(QueryError, match=r"too large.*at most 1,000"):
        LineRegex(pattern)


# A pattern that distinguishes each ASCII letter, digit and underscore from all other characters.
_DISTINCT = r"\b[^é]" + "|".join("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")


def test_a_pattern_with_too_many_different_characters_is_rejected() -> None:
    with pytest.raises(QueryError, match=r"too many characters; quote"):
        list(LineRegex(_DISTINCT).find_lines("éà", lambda: False))


@pytest.mark.parametrize(
    "pattern",
    [
        r"def \w+_backoff", r"(foo|bar)+\d", r"^import (os|sys)$", r"(ab){2,5}", r"[A-Z]{3,}_\w+",
        r"a.*b.*c", r"(?:https?://)?example\.com", r"x{2}(y+z)?", r"(?i:Foo) bar", r"[[]x",
        r"(\d{1,3}\.){3}\d{1,3}", r"colou?rs?", r"(a+)+b", r".*a.*b.*c.*d.*e.*f", r"(?x) a  b",
        r"\bself\.\w{1,500}", r".{0,1000}x.{0,1000}",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    ],
)  # fmt: skip
def test_common_patterns_are_accepted(pattern: str) -> None:
    LineRegex(pattern)


@pytest.mark.parametrize(
    "pattern", ["(", "[a-", "a{2,1}", "*", r"\q", "(?P<1>a)", "a{99999999999}"]
)
def test_an_invalid_pattern_is_rejected_with_advice(pattern: str) -> None:
    with pytest.raises(QueryError, match=r"invalid.*quote the text"):
        LineRegex(pattern)


@pytest.mark.slow
@given(st.text(max_size=40) | st.text("ab()|*+?{1,9}[]^$.\\wbBAZ<>=!:-P\udc80é", max_size=40))
def test_any_pattern_is_accepted_or_rejected(pattern: str) -> None:
    try:
        LineRegex(pattern)
    except QueryError:
        return
    find_literals(pattern)


@pytest.mark.parametrize("pattern", ["(" * 250 + ")" * 250, "((a)*" * 60 + ")" * 60, "[" * 500])
def test_deep_nesting_does_not_crash(pattern: str) -> None:
    with contextlib.suppress(QueryError):
        LineRegex(pattern)


@pytest.mark.slow
@given(st.text("ab_()|*+?{2,}[]^$. \\w", max_size=12), st.text("ab_ ", max_size=12))
def test_every_match_contains_the_literals(pattern: str, text: str) -> None:
    try:
        regex = LineRegex(pattern)
    except QueryError:
        return
    if list(regex.find_lines(text, lambda: False)):
        assert all(literal.lower() in text.lower() for literal in find_literals(pattern))


def test_the_literals_of_a_pattern_are_its_required_words() -> None:
    assert find_literals(r"def \w+_backoff\(") == ("def", "_backoff")
    assert find_literals(r"(retry|again) policy") == ("policy",)
    assert find_literals(r"colou?r") == ("colo",)
    assert find_literals(r"\d+") == ()


def test_a_very_long_pattern_is_rejected() -> None:
    with pytest.raises(QueryError, match="500"):
        LineRegex("a" * 501)
