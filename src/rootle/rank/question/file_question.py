"""Recognize questions for a file by its name, as in "the bulk edit file"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from rootle.text.terms import file_stem, find_words, split_identifier

_NOUN: Final = r"(?:file|script)"
_FILE: Final = re.compile(rf"\b{_NOUN}\b", re.IGNORECASE)
# The name comes directly before the noun, or after words such as "with the" or "that handles".
_BEFORE: Final = re.compile(rf"{_NOUN} ")
_AFTER: Final = re.compile(
    rf"(?:^| ){_NOUN} (?:with|for|of|about|containing|(?:that|which) [a-z]+)(?: the| an?)?$"
)
_MAX_CHARS_BEFORE: Final = 60
_MAX_NAMES: Final = 16_384
_MIN_WORDS: Final = 2  # a name of one word is too often an ordinary word of the question


def asks_for_file(text: str) -> bool:
    """Return whether a question mentions a file or a script."""
    return _FILE.search(text) is not None


def find_named_stem(path: str, question: str) -> str:
    """Return the words of a file's name if a question asks for this file, or "".

    A name of one word is not enough. Extensions such as `.component.ts` are ignored.
    """
    name, words = _join_words(file_stem(path).partition(".")[0]), _join_words(question)
    at = words.find(name) if name.count(" ") > _MIN_WORDS else -1
    if at < 0:
        return ""
    before = words[max(0, at - _MAX_CHARS_BEFORE) : at]
    is_asked = _BEFORE.match(words, at + len(name)) or _AFTER.search(before)
    return name if is_asked else ""


def find_contained_names(paths: Iterable[str], question: str) -> Iterator[str]:
    """Yield the paths whose file names have words that a question contains in the same order."""
    words = _join_words(question)
    return (path for path in paths if _name_words(path) in words)


@lru_cache(_MAX_NAMES)  # every question is compared with the same paths
def _name_words(path: str) -> str:
    return _join_words(file_stem(path).partition(".")[0])


def _join_words(text: str) -> str:
    """Return the words in a text in lower case, with a space before and after each word."""
    parts = (part for word in find_words(text) for part in split_identifier(word))
    return f" {' '.join(parts)} ".lower()
