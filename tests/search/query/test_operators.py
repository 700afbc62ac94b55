"""Operators in questions, and text that only looks like an operator."""

from __future__ import annotations

import contextlib
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample import QUESTIONS

from rootle.errors import QueryError
from rootle.search.query.operators import ParsedQuery, parse_query

_LABELS = Path(__file__).parents[3] / "benchmarks/labels"


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ('"max attempts"', ParsedQuery("max attempts", phrases=("max attempts",))),
        ('where is "max  attempts"?', ParsedQuery(
            "where is max attempts?", phrases=("max attempts",))),
        ("“max attempts” default", ParsedQuery("max attempts default", phrases=("max attempts",))),
        ('"a b" "c d"', ParsedQuery("a b c d", phrases=("a b", "c d"))),
        ('"->"', ParsedQuery("->", phrases=("->",))),
        ('"not found" page', ParsedQuery("not found page", phrases=("not found",))),
        ("retry -test", ParsedQuery("retry", excluded=("test",))),
        ("retry -test policy", ParsedQuery("retry policy", excluded=("test",))),
        ("how is retry done -tests", ParsedQuery("how is retry done", excluded=("tests",))),
        ('retry -"unit test"', ParsedQuery("retry", excluded=("unit test",))),
        ("path:src/api timeouts", ParsedQuery("timeouts", paths=("src/api",))),
        ("timeouts path:*.md -path:tests/", ParsedQuery(
            "timeouts", paths=("*.md",), excluded_paths=("tests/",))),
        ('path:"my files" timeouts', ParsedQuery("timeouts", paths=("my files",))),
        ("lang:python lang:c++ -lang:go x y", ParsedQuery(
            "x y", languages=("python", "c++"), excluded_languages=("go",))),
        ("language:ts x y", ParsedQuery("x y", languages=("ts",))),
        (r"/def \w+_backoff/", ParsedQuery("def _backoff", regex=r"def \w+_backoff")),
        (r"lang:py /def \w+/ -path:tests", ParsedQuery(
            "def", languages=("py",), excluded_paths=("tests",), regex=r"def \w+")),
        ('/a "b" -cde f/', ParsedQuery("cde", regex='a "b" -cde f')),
        (r"regex:max \w+ path:src", ParsedQuery("max", paths=("src",), regex=r"max \w+")),
        (r"/max \w+/ in:docs author:ada", ParsedQuery(
            "max", kinds=("docs",), authors=("ada",), regex=r"max \w+")),
        (r"regex:max \w+ since:2024", ParsedQuery("max", since="2024", regex=r"max \w+")),
        (r'retry regex:"max \w+"', ParsedQuery("retry max", regex=r"max \w+")),
        (r"/def \w+/ -test", ParsedQuery("def", excluded=("test",), regex=r"def \w+")),
        (r'-test path:src /def \w+/ -"unit test"', ParsedQuery(
            "def", excluded=("test", "unit test"), paths=("src",), regex=r"def \w+")),
        (r"regex:def \w+ -test", ParsedQuery("def", excluded=("test",), regex=r"def \w+")),
        (r"regex:def \w+ -test path:src -old", ParsedQuery(
            "def", excluded=("test", "old"), paths=("src",), regex=r"def \w+")),
        ("regex:go test -race all", ParsedQuery("go test race all", regex="go test -race all")),
        ('regex:"test -race"', ParsedQuery("test race", regex="test -race")),
        (r"regex:test \-race", ParsedQuery("test race", regex=r"test \-race")),
        ("/test -race/", ParsedQuery("test race", regex="test -race")),
    ],
)  # fmt: skip
def test_operators_are_separated_from_the_question(text: str, parsed: ParsedQuery) -> None:
    assert parse_query(text) == parsed


@pytest.mark.parametrize(
    "text",
    [
        *QUESTIONS,
        "how does a/b testing work",
        'say "unbalanced',
        'print("hello world")',
        'why is url == "" here',
        r"C:\path: x",
        "std::path: join",
        "path::join usage",
        "https://example.com/a?b=c path",
        "file:///etc/hosts",
        "note: lang: x",
        "path: x",
        "regex: x",
        "/usr/lib/",
        "/usr/local/bin",
        "what does grep -r do",
        "ls -la --color",
        "what does go test -race do",
        "kill -9 a worker",
        "the machine is busier than my -l threshold",
        "e-mail re-send -",
        "-verbose",
        "fastify-plugin: my-auth - expected '4.x' fastify version, '5.2.1' is installed",
        'file "/srv/mail/inbox.db" changed type, refusing to archive',
        'cannot encode tree at "/home/anna" without losing information',
        'Failed to create filter with parameters: ["inputIntensity": 0.5]',
        "/* Failed to load the style sheet. */",
        'Find a plugin by name. def find(name): require "plugin/name"; raise UnknownPlugin',
        'Build the simulator. run = build(target) -destination "platform=watch"',
    ],
)
def test_text_that_only_resembles_operators_stays_unchanged(text: str) -> None:
    assert parse_query(text) == ParsedQuery(text)


def test_labeled_questions_stay_unchanged() -> None:
    import json

    for path in sorted(set(_LABELS.glob("*.jsonl")) - set(_LABELS.glob("agent_queries*.jsonl"))):
        for line in path.read_text(encoding="utf-8").splitlines():
            text = json.loads(line)["query"]
            assert parse_query(text) == ParsedQuery(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("lang:cobolt parser", ["cobolt", "lang:python", "quote"]),
        ("/(/", ['"("', "invalid", "quote"]),
        ("regex:[a-", ["[a-", "invalid"]),
        (r"/(a)\1/", [r"(a)\1", "backreference", "repeat"]),
        ('""', ['""', "empty", "between the quotes"]),
        ('" "', ["empty"]),
        ("path:src lang:py", ["path:src lang:py", "search for"]),
        ("path:src -word", ["search for"]),
    ],
)
def test_a_contradictory_operator_is_rejected_with_advice(text: str, parts: list[str]) -> None:
    with pytest.raises(QueryError) as error:
        parse_query(text)
    assert "\n" not in str(error.value)
    for part in parts:
        assert part in str(error.value)


_WORDS = st.lists(
    st.text(string.ascii_letters + string.digits + "_.,'?!()<>=+*#äñ重", min_size=1, max_size=12),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@given(_WORDS)
def test_plain_words_stay_unchanged(words: list[str]) -> None:
    text = " ".join(words)
    assert parse_query(text) == ParsedQuery(text)


_PIECES = st.sampled_from(
    ['"', "“", "”", "-", "/", "path:", "lang:", "regex:", "-path:", " ", "  ", "\n", "\\", "(", ")",
     "[", "]", "*", "+", "?", "{9,}", "|", "^", "$", "python", "src/api", "retry", "the", ":", "é"]
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(_PIECES, max_size=14).map("".join))
def test_any_input_is_parsed_or_rejected(text: str) -> None:
    try:
        parsed = parse_query(text)
    except QueryError:
        return
    assert parsed.text.strip() or parsed.is_exact or not text.strip()


@pytest.mark.slow
@given(st.text(max_size=60))
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        parse_query(text)
    except QueryError:
        return


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.lists(_PIECES, min_size=1, max_size=4).map("".join), _PIECES)
def test_long_input_does_not_hang(piece: str, end: str) -> None:
    with contextlib.suppress(QueryError):
        parse_query((piece * 10_000)[:10_000] + end)


@pytest.mark.parametrize(
    "text",
    [
        'Return the "leader" of the "partition". public ElectionResult electLeader()',
        'Set "rettv" to the new blob. static void repeat_blob(typval_T *blob_tv, int n)',
    ],
)
def test_quotes_in_a_description_before_code_are_text(text: str) -> None:
    assert parse_query(text) == ParsedQuery(text)
