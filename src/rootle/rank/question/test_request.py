"""Recognize questions that ask for a test rather than for code that handles tests."""

from __future__ import annotations

import re
from typing import Final

_MENTION: Final = re.compile(r"\b(?:test(?:s|ed|ing)?|specs?|fixtures?|test_?cases?)\b", re.I)
# Queries of up to this many words just name a topic: "retry tests" asks for tests, but "test
# client" may ask for code.
TOPIC_WORDS: Final = 6
_TOPIC: Final = re.compile(r"\b(?:tests?|specs?|test_?cases?)\W*$", re.I)
# Questions about how tests are run are answered by the files that set up the tests.
_RUNS_TESTS: Final = re.compile(r"\b(?:ci|workflows?|coverage)\b", re.I)
_EXCLUDED: Final = re.compile(
    r"\b(?:outside(?: of)?|except(?: for| in)?|excluding|without|besides|not (?:in|from|counting))"
    r" (?:the )?(?:tests?|specs?)\b|\b(?:tests?|specs?) (?:aside|excluded)\b",
    re.I,
)
# Questions are shorter than this. A longer text is a message or code, and its beginning says what
# is asked.
_MAX_CHARS: Final = 1_000
_KIND: Final = r"(?:unit|integration|regression|system|functional|acceptance|smoke|e2e|end-to-end)"
_REQUEST: Final = re.compile(
    rf"""^\W*(?:an?\s|the\s)?(?:{_KIND}[\s-]+)*(?:test(?:\s?case)?|spec)\b(?!\s(?:files?|runs?|suites?|failed)\b)
    |^\W*(?:{_KIND}[\s-]+)*(?:tests|specs)(?:\s(?:that|for|of|which|in)\b|:)
    |\b{_KIND}[\s-]+(?:checks?|tests?|specs?)\s(?:that|for|of)\b
    |\b(?:test(?:\s?case)?|spec)\s(?:that|which|for)\b
    |\b(?:which|what|is\sthere\san?|are\sthere|any)\s(?:\w+\s){{0,2}}(?:tests?|specs?)\b
     (?!\s(?:files?|suites?|runs?)\b)
    |\bis\sit\s(?:covered|tested)\b
    |\bcovered\sby\s(?:an?\s|the\s|any\s)?(?:{_KIND}\s)?(?:tests?|specs?)\b
    |\bwhere\s(?:is|are)\b.*\btested\b""",
    re.I | re.X,
)
# The code of a test. Language models append such code to a description.
_TEST_CODE: Final = re.compile(
    r"@Test\b|\bdef\stest_|\bfunc\s[Tt]est\w*\(|\bfn\stest_|\b(?:it|test|describe|context)\(['\"`]"
    r"|\bTEST(?:_\w)?\(|\[(?:Fact|Theory|Test)\]"
)
# The purpose of what a question describes, as in "send requests to a second server for testing".
# Helpers of tests are described in the same way, but are code for tests.
_PURPOSE: Final = re.compile(r",?\s{1,5}for testing(?: purposes?)?\W{0,20}$", re.I)
_HELPER: Final = re.compile(
    r"\b(?:dummy|dummies|fakes?|fixtures?|harness|helpers?|in[- ]memory|mock\w*|sandbox|simulat\w*"
    r"|stub\w*|test\w*|util\w*)\b",
    re.I,
)
_MIN_DESCRIBED: Final = 5  # a shorter text, such as "client for testing", names a topic


def drop_purpose(text: str) -> str:
    """Remove "for testing" from the end of a text, unless the text describes a test helper."""
    described = _PURPOSE.sub("", text)
    is_helper = described != text and _HELPER.search(described) is not None
    return text if is_helper or len(described.split()) < _MIN_DESCRIBED else described


def asks_for_test(text: str, words: int) -> bool:
    """Return whether a question asks for a test. `words` is the number of its content words.

    A text that just mentions tests, such as "sort the tests by their duration", describes code.
    """
    if _EXCLUDED.search(text) is not None:
        return False
    if words <= TOPIC_WORDS and _TOPIC.search(text) is not None:
        return True
    return _REQUEST.search(text, 0, _MAX_CHARS) is not None or _TEST_CODE.search(text) is not None


def may_concern_tests(text: str, words: int) -> bool:
    """Return whether tests may answer a question that does not ask for them."""
    if _MENTION.search(text) is None or _EXCLUDED.search(text) is not None:
        return False
    return words <= TOPIC_WORDS or _RUNS_TESTS.search(text) is not None
