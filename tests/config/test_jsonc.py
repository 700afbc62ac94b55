"""JSON with comments and trailing commas."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootle.config.jsonc import JsonError, Value, parse, to_python

_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.slow
@given(_DATA, st.sampled_from([None, 2]))
def test_json_is_parsed_as_by_the_standard_library(data: object, indent: int | None) -> None:
    assert to_python(parse(json.dumps(data, indent=indent))) == data


def test_comments_and_trailing_commas_are_accepted() -> None:
    text = """
    // a comment
    {
        "five": 5, // five
        /* "seven": 7, */
        "text": "a//b/*c*/", /* a comment
        of two lines */
        "list": [1, /* two */ 2, // and
        ],
    }, """
    assert to_python(parse(text.rstrip(", "))) == {"five": 5, "text": "a//b/*c*/", "list": [1, 2]}
    with pytest.raises(JsonError, match="end of the file"):
        parse(text)


def test_every_key_has_a_line_number() -> None:
    value = parse('{ // 1\n"a": 1, /* 2\n3 */ "b":\n4,\r\n"c": {"d": 5}}')
    lines = {member.key: (member.line, member.value.line) for member in value.data}
    assert lines == {"a": (2, 2), "b": (3, 4), "c": (5, 5)}


@pytest.mark.slow
@given(st.text(alphabet='{}[]",:/*\\ \n1e-.tnu\ud800', max_size=40) | st.text())
def test_invalid_text_raises_an_error_with_a_line_in_the_text(text: str) -> None:
    try:
        to_python(parse(text))
    except JsonError as error:
        assert 1 <= error.line <= text.count("\n") + 1  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("{\n\n", 3), ("[1\n2]", 2), ('{"a"\n:1\n"b"}', 3), ("{,}", 1), ("[,]", 1)],
)
def test_a_syntax_error_has_a_line_number(text: str, line: int) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert caught.value.line == line


def test_a_scalar_is_a_valid_document() -> None:
    assert parse("5") == Value(5, 1, start=0, end=1)
