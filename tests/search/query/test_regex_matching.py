"""Regular expressions match as in `re`, line by line, in linear time."""

from __future__ import annotations

import re
import time
import warnings

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rootle.errors import QueryError
from rootle.search.query.regex_matching import LineRegex


def _find(pattern: str, text: str) -> list[int]:
    return list(LineRegex(pattern).find_lines(text, lambda: False))


def _find_with_re(pattern: str, text: str) -> list[int]:
    """Return the position of the first match of each line, according to `re`."""
    found, start = [], 0
    flags = re.NOFLAG if any(map(str.isupper, re.sub(r"\\.", "", pattern))) else re.IGNORECASE
    for line in text.split("\n"):
        match = re.search(pattern, line.rstrip("\r"), flags)
        found += [start + match.start()] if match else []
        start += len(line) + 1
    return found


_TOKENS = st.sampled_from(
    [*"abAiİısſKkéÉß_1²٣ .*+?|()^$-🙂ΣςμµIK", "{2}", "{1,3}", "{2,}", "(?:", "[ab]", "[^a]",
     "[a-z]", r"[^\W]", r"[^\s_]", "[é-ü]", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b",
     r"\B", r"\Z", r"\A", "(?i:", "(?-i:", r"\r", r"[\r-]", r"\n", r"[\x00-\x1f]", "(?P<n>", "*?"]
)  # fmt: skip
_TEXTS = st.text("aAbiIİısSſKKkéÉßẞ_1²٣ \u00a0\u2028.-\r\n🙂ΣςσμµüÿŸ重\x1c\x85\0", max_size=14)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.lists(_TOKENS, min_size=1, max_size=7).map("".join), st.lists(_TEXTS, max_size=3))
def test_every_supported_pattern_matches_as_in_re(pattern: str, texts: list[str]) -> None:
    try:
        regex = LineRegex(pattern)
    except QueryError:
        return
    for text in texts:
        # Since Python 3.14, \B matches an empty line.
        assume(r"\B" not in pattern or all(line.rstrip("\r") for line in text.split("\n")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            expected = _find_with_re(pattern, text)
        assert list(regex.find_lines(text, lambda: False)) == expected


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("retry", "RETRY", "try"),
        ("Retry", "Retry", "retry"),
        (r"\Sretry", "xRETRY", "retry"),
        (r"\büber", "ein Über", "darüber"),
        (r"caf\b", "caf-", "café"),
        (r"^\w+$", "重新连接", "重新 连接"),
        (r"\d", "٣", "²"),
        ("x$", "x\r\r", "x\ry"),
        (r"a\sb", "a b", "a\nb"),
        (r"a[^c]b", "adb", "a\nb"),
        (r"^b", "a\nb", "a\rb"),
        ("a{3,}b", "aaaaab", "aab"),
        ("(?i)Foo", "foo", "fo"),
        (r"[\udc80]|x", "x", "\ufffd"),
    ],
)
def test_a_line_matches_or_not(pattern: str, matching: str, other: str) -> None:
    assert _find(pattern, matching)
    assert not _find(pattern, other)


@pytest.mark.slow
def test_the_positions_are_those_of_the_first_match_of_each_line() -> None:
    text = "x ab ab\r\n\r\nab é ab\n" * 5_000

    assert _find("ab", text) == _find_with_re("ab", text)
    assert _find("^$", text) == _find_with_re("^$", text)
    assert _find("$", text) == _find_with_re("$", text)


def test_long_lines_are_searched() -> None:
    assert _find("b", "a" * 60_000 + "b\n" + "b") == [60_000, 60_002]


def test_new_kinds_of_characters_in_a_later_text_are_distinguished() -> None:
    regex = LineRegex(r"\w[^é]\b")

    assert list(regex.find_lines("ab", lambda: False)) == [0]
    assert list(regex.find_lines("aé\nüß", lambda: False)) == [3]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:ab|a|b)+c", r"(a+)+b", r"(a*)*b", r"(\w+\s*)*x", r"(a|aa)+$", r"(.*a){12}b",
        r"(?:a?){60}a{60}c", r".*a.*b.*c.*d.*e", r"\w*\w*\w*\w*!", r"(?:a|b)*a(?:a|b){400}c",
    ],
)  # fmt: skip
def test_no_pattern_backtracks(pattern: str) -> None:
    started = time.process_time()
    _find(pattern, "ab" * 60 + "\n" + "a" * 60_000 + "!\n")
    assert time.process_time() - started < 60


def test_matching_ends_when_it_is_late() -> None:
    clock = iter([False, False, True])

    found = list(LineRegex("^a").find_lines("a\n" * 100_000, lambda: next(clock)))
    assert 0 < len(found) < 100_000
