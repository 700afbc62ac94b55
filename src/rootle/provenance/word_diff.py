"""Split lines into words, and compare lines word by word, so that white space does not matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rootle.provenance.limited_matcher import LimitedMatcher

_WORD: Final = re.compile(r"[^\W\d_][\w$]*|_\w*|\d[\w.]*|[^\w\s]")
_COMMENT: Final = re.compile(
    r"^\s*(?:#(?!include|define|if|el|end)|//|/\*|\*[\s/]|--\s|;;|%|\"\"\"|''')"
)
_OPERATORS: Final = frozenset("+-*/%=<>!&|^~?@.:$#")
# Blocks with more pairs of words, or with more lines, are not compared by words. Only equal lines
# are matched.
_MAX_PRODUCT: Final = 1_500_000
_MAX_BLOCK_LINES: Final = 3_000
_COMMENT_WEIGHT: Final = 0.25


class WordPosition(NamedTuple):
    """A word of a text."""

    line: int  # from 1
    column: int  # among the words of the line, from 0


def split_words(line: str) -> list[str]:
    """Return the words and punctuation of a line. All quotation marks become double quotes."""
    return ['"' if word in "'`" else word for word in _WORD.findall(line)]


def weigh_word(word: str) -> float:
    """Return the weight of a word in the meaning of a line; 0 for brackets and commas."""
    if word[0].isalnum() or word[0] == "_":
        return 1.0
    return 0.3 if word in _OPERATORS else 0.0


def weigh_line(line: str) -> float:
    """Return the weight of a line in the meaning of a passage. Comments weigh less than code."""
    return _COMMENT_WEIGHT if _COMMENT.match(line) else 1.0


def signature(line: str) -> str:
    """Return a string that is the same for lines with the same words."""
    return " ".join(split_words(line))


def count_letters(line: str) -> int:
    """Return the number of letters and digits of a line."""
    return sum(map(str.isalnum, line))


def align(
    old_lines: Sequence[str], old_start: int, new_lines: Sequence[str], new_start: int
) -> dict[WordPosition, WordPosition]:
    """Return the old positions of the new words that the old lines contain in the same order.

    First, lines with the same words are matched, and then the words between these lines.
    """
    if len(old_lines) > _MAX_BLOCK_LINES or len(new_lines) > _MAX_BLOCK_LINES:
        return _align_equal_lines(old_lines, old_start, new_lines, new_start)
    old, new = list(map(signature, old_lines)), list(map(signature, new_lines))
    found: dict[WordPosition, WordPosition] = {}
    matcher = LimitedMatcher(old, new, _is_trivial, autojunk=False)
    for kind, first_old, last_old, first_new, last_new in matcher.get_opcodes():
        if kind == "equal":
            for offset in range(last_old - first_old):
                line = first_new + offset
                for column in range(len(split_words(new_lines[line]))):
                    found[WordPosition(new_start + line, column)] = WordPosition(
                        old_start + first_old + offset, column
                    )
        elif kind == "replace":
            found.update(
                _align_words(
                    list(_list_words(old_lines, old_start, first_old, last_old)),
                    list(_list_words(new_lines, new_start, first_new, last_new)),
                )
            )
    return found


def _align_equal_lines(
    old_lines: Sequence[str], old_start: int, new_lines: Sequence[str], new_start: int
) -> dict[WordPosition, WordPosition]:
    """Match new lines with equal old lines that occur exactly once."""
    places: dict[str, int] = {}
    for number, line in enumerate(old_lines):
        key = signature(line)
        places[key] = -1 if key in places else number
    found = {}
    for number, line in enumerate(new_lines):
        at = places.get(signature(line), -1)
        for column in range(len(split_words(line)) if at >= 0 else 0):
            found[WordPosition(new_start + number, column)] = WordPosition(old_start + at, column)
    return found


def _align_words(
    old: list[tuple[str, WordPosition]], new: list[tuple[str, WordPosition]]
) -> Iterator[tuple[WordPosition, WordPosition]]:
    if len(old) * len(new) > _MAX_PRODUCT:
        return
    matcher = LimitedMatcher(
        [word for word, _ in old], [word for word, _ in new], _is_trivial, autojunk=False
    )
    for first_old, first_new, size in matcher.get_matching_blocks():
        for offset in range(size):
            yield new[first_new + offset][1], old[first_old + offset][1]


def _list_words(
    lines: Sequence[str], start: int, first: int, last: int
) -> Iterator[tuple[str, WordPosition]]:
    for number in range(first, last):
        for column, word in enumerate(split_words(lines[number])):
            yield word, WordPosition(start + number, column)


def _is_trivial(text: str) -> bool:
    """Return whether a line or word is too common to show that two places correspond."""
    return not any(char.isalnum() for char in text)
