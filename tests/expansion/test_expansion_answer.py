"""Answers of language models are reduced to one line of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootle.expansion.answer import MAX_CHARS, clean_answer

WORDS = "evict the oldest entry, evict_oldest, LruCache"


@pytest.mark.parametrize(
    "text",
    [
        WORDS,
        f"  {WORDS}\n",
        f'"{WORDS}"',
        f"“{WORDS}”",
        f"`{WORDS}`",
        f"Query: {WORDS}",
        f'Query: "{WORDS}"',
        f"**Search query:** {WORDS}",
        f"Sure! Here is a query for your question: {WORDS}",
        f"Here's the query:\n\n```text\n{WORDS}\n```\nIt finds the code.",
        f"```\n{WORDS}\n```",
        f"```\n{WORDS}",
        f"<think>\nWhich cache? Query: none\n</think>\n\n{WORDS}",
        "evict the oldest entry,\nevict_oldest,\r\n\tLruCache",
        "- evict the oldest entry,\n- evict_oldest,\n- LruCache",
        "1. evict the oldest entry,\n2. evict_oldest,\n3. LruCache",
        f"\x1b\x00{WORDS}",
    ],
)
def test_everything_around_the_words_is_removed(text: str) -> None:
    assert clean_answer(text) == WORDS


@pytest.mark.slow
@pytest.mark.parametrize("filling", ["\n", " ", "\t\n", "```", "<think>", "- ", "query "])
def test_a_long_answer_without_words_is_reduced_at_once(filling: str) -> None:
    # If the time grew with the square of the length, this call would take an hour.
    assert len(clean_answer(filling * 250_000)) <= MAX_CHARS


@pytest.mark.parametrize(
    "text",
    [
        "Module::name of a setting: cache.size",
        "answer_cache: the cache of answers",
        "a query planner and its keywords",
        "C++ templates, operator<, std::vector<int>",
    ],
)
def test_names_and_punctuation_of_code_stay(text: str) -> None:
    assert clean_answer(text) == text


def test_a_long_answer_is_cut_after_a_word() -> None:
    line = clean_answer("evict_oldest " * 1_000)
    assert MAX_CHARS - 13 < len(line) <= MAX_CHARS
    assert set(line.split()) == {"evict_oldest"}
    assert len(clean_answer("x" * 10_000)) == MAX_CHARS


@pytest.mark.slow
@given(st.text())
def test_any_answer_becomes_one_short_line_without_quotes(text: str) -> None:
    line = clean_answer(text)
    assert len(line) <= MAX_CHARS
    assert line == " ".join(line.split())
    assert not set(line) & set('"“”`\n')
