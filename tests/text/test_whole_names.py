"""Finding whole words without regular expressions."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rootle.text.whole_names import find_word

_TEXTS = st.text(alphabet="ab_1é$ .\n", max_size=60)
_NAMES = st.text(alphabet="ab_1é$", min_size=1, max_size=3)


@given(_TEXTS, _NAMES)
def test_a_word_is_found_where_a_regular_expression_finds_it(text: str, word: str) -> None:
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    assert list(find_word(text, word)) == [match.start() for match in pattern.finditer(text)]


@given(_TEXTS, _NAMES, st.integers(0, 60), st.integers(0, 60))
def test_a_word_is_found_in_a_part_of_encoded_text(
    text: str, name: str, start: int, end: int
) -> None:
    data, word = text.encode(), name.encode()
    pattern = re.compile(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)")
    expected = [match.start() for match in pattern.finditer(data, start, end)]
    assert list(find_word(data, word, start, end)) == expected


def test_an_empty_word_does_not_occur() -> None:
    assert not list(find_word("a b", ""))
    assert not list(find_word(b"a b", b"", 0, 3))
