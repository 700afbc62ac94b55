"""Choose the words of a query from the text in an image."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rootle.text.terms import STOP_WORDS, WORD, whole_identifier

_MAX_WORDS: Final = 30
_MIN_WORD_CHARS: Final = 3
_ERROR: Final = re.compile(
    r"error|exception|fail|fatal|panic|traceback|cannot|can't|could not|unable|denied|invalid|"
    r"unexpected|not found|missing|timed? ?out|refused|exceeded|warning",
    re.IGNORECASE,
)


def choose_words(text: str, is_known: Callable[[str], bool]) -> Sequence[str]:
    """Return the distinct words of a text that `is_known` accepts, without operators.

    `is_known` is called with a normalized name. Words from error messages come first.
    """
    lines = text.split("\n")
    ordered = sorted(lines, key=lambda line: not _ERROR.search(line))
    words: dict[str, str] = {}
    for word in _list_words(ordered):
        key = whole_identifier(word)
        if key not in words and is_known(key):
            words[key] = word
        if len(words) >= _MAX_WORDS:
            break
    return list(words.values())


def _list_words(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        for word in WORD.findall(line):
            if len(word) >= _MIN_WORD_CHARS and word.lower() not in STOP_WORDS:
                yield word
