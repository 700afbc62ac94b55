"""Tests of patterns that are compiled only for texts with certain words."""

from __future__ import annotations

import string
import subprocess
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from regex_growth import accepts, codes, parser

from rootle.history import past_question
from rootle.history.authors import author_questions
from rootle.history.names import name_questions
from rootle.rank.question import name_question
from rootle.text.patterns.lazy_pattern import LazyPattern, lazy_pattern, words_in

# Prints how many lazy patterns are compiled to import the modules and to parse a question.
_COMPILED_BY_QUESTION = """
import rootle.text.patterns.lazy_pattern as lazy
compiled = []
compile_ = lazy._compile
lazy._compile = lambda source, flags: compiled.append(source) or compile_(source, flags)
from rootle.history.authors.author_questions import may_name_author
from rootle.history.past_question import parse_past_question
from rootle.rank.question.name_question import parse_name_question
text = "how are secrets masked before a text is indexed"
may_name_author(text), parse_past_question(text, ()), parse_name_question(text)
print(len(compiled))
"""


def _patterns(value: object) -> Iterator[LazyPattern]:
    if isinstance(value, LazyPattern):
        yield value
    elif isinstance(value, author_questions._Form):
        yield value.before
    elif isinstance(value, tuple):
        for one in value:
            yield from _patterns(one)


def _patterns_with_words() -> list[LazyPattern]:
    modules = (author_questions, name_question, name_questions, past_question)
    values = (value for module in modules for value in vars(module).values())
    return list(dict.fromkeys(one for value in values for one in _patterns(value) if one.words))


def _random_text(items: Any, rng: Random) -> str:
    """Return a text that the items of a parsed pattern match, unless they contain a look-around."""
    text = ""
    for op, argument in items:
        if op is codes.LITERAL:
            text += chr(argument)
        elif op is codes.IN:
            text += next(char for char in _shuffle(rng) if accepts(argument, char))
        elif op is codes.BRANCH:
            text += _random_text(rng.choice(argument[1]), rng)
        elif op is codes.SUBPATTERN:
            text += _random_text(argument[-1], rng)
        elif op is codes.ASSERT:
            text += _random_text(argument[1], rng)
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            low, high, body = argument
            count = rng.randint(low, min(high, low + 2))
            text += "".join(_random_text(body, rng) for _ in range(count))
        elif op is codes.ANY:
            text += rng.choice("a ")
    return text


def _shuffle(rng: Random) -> str:
    return "".join(rng.sample(string.printable, len(string.printable)))


@pytest.mark.parametrize("pattern", _patterns_with_words(), ids=lambda one: one.source[-40:])
def test_every_text_that_matches_contains_the_words(pattern: LazyPattern) -> None:
    rng = Random(1)
    parsed = parser.parse(pattern.source, pattern.flags)
    texts = [_random_text(parsed, rng) for _ in range(100)]
    matching = [text for text in texts if pattern.compiled.match(text)]

    assert len(matching) > 10
    assert [text for text in matching if not pattern.may_match(words_in(text))] == []


def test_words_are_found_regardless_of_case_and_next_to_any_other_character() -> None:
    pattern = lazy_pattern("who (?:removed|got rid of) x", "who", "removed|got rid of")

    assert pattern.may_match(words_in('"WHO" (got)'))
    assert not pattern.may_match(words_in("who rid of"))
    assert not pattern.may_match(words_in("whoever removed it"))


@pytest.mark.slow
def test_a_question_about_present_code_compiles_no_patterns_of_other_questions() -> None:
    command = [sys.executable, "-c", _COMPILED_BY_QUESTION]

    assert subprocess.run(command, capture_output=True, text=True).stdout == "0\n"
